import { CHUNK_CHARACTERS, createRollingHash } from './rolling-hash.ts';

/** So often it stands there, without overlapping itself, */
export const CHUNK_TIMES = 10;
/** within this many characters, */
export const WINDOW_CHARACTERS = 5_000;
/** on average so close together, */
const MEAN_DISTANCE_MAX = 250;
/** in so few different distances, */
const DISTANCES_MAX = 5;
/**
 * and of what stands between its places at least this share has been said before: the rows of a list have
 * words in common and say something new each, a chant does not (those of the tests: less than half).
 */
const SAID_BEFORE_MIN = 0.8;

/** Places that are known at first, as many as short answers have; doubled when they come up to it, */
const PLACES_MIN = 1_024;
/** but not beyond this: larger than the window. All are powers of two. */
const PLACES_MAX = 8_192;
/** Lists of places whose hashes have a part in common. */
const BUCKETS = 4_096;
const BUCKET_SHIFT = 20;
/** Spreads hashes over the buckets: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e_37_79_b1;

/** What is known of a place, side by side for the processor's cache. Of places that are named here: the place + 1. */
const FIELDS = 4;
const HASH = 0;
/** The place before in the same bucket, */
const OLDER_IN_BUCKET = 1;
/** and that where the same chunk ends, without an overlap. */
const OLDER_ALIKE = 2;
/** Characters so far that ended a chunk which had been said before. */
const SAID_BEFORE = 3;

/**
 * Looks for chunks that stand again and again in a text as it comes, code unit by code unit. Constant time and
 * memory for each: it knows the last 5,000 characters by rolling hashes. Two chunks of the same hash count
 * as one; that ten of them in regular distances are different texts does not happen by chance.
 *
 * Every character of every answer comes by here, of hundreds of answers in turns. So places stand in one array that is
 * made once: lists in a map were half of what an answer left to the garbage collector.
 */
export class RepeatedChunks {
  readonly #newestInBucket = new Int32Array(BUCKETS);
  readonly #roll = createRollingHash();
  #places = new Int32Array(PLACES_MIN * FIELDS);
  #mask = PLACES_MIN - 1;
  #next = 0;
  #hash = 0;
  #isChant = false;

  /**
   * Takes one UTF-16 unit. Returns how often the chunk that ends with it stands in the window without overlaps,
   * itself included, at most CHUNK_TIMES; 0 before there is one.
   */
  take(code: number): number {
    const place = this.#next++;
    this.#isChant = false;
    this.#hash = this.#roll.take(code);
    if (place < CHUNK_CHARACTERS - 1) return 0;
    if (place > this.#mask) this.#makeRoom();
    const oldest = Math.max(-1, place - (WINDOW_CHARACTERS - CHUNK_CHARACTERS));
    const bucket = Math.imul(this.#hash, SPREAD) >>> BUCKET_SHIFT;
    const alike = this.#newestAlike(bucket, oldest);
    const before = place < CHUNK_CHARACTERS ? 0 : this.#field(place - 1, SAID_BEFORE);
    const at = (place & this.#mask) * FIELDS;
    this.#places[at + HASH] = this.#hash;
    this.#places[at + SAID_BEFORE] = alike < 0 ? before : before + 1;
    if (alike >= 0 && place - alike < CHUNK_CHARACTERS)
      return this.#placesFrom(alike, oldest).length;
    this.#places[at + OLDER_IN_BUCKET] = this.#newestInBucket[bucket] ?? 0;
    this.#places[at + OLDER_ALIKE] = alike + 1;
    this.#newestInBucket[bucket] = place + 1;
    if (alike < 0) return 1;
    const places = this.#placesFrom(place, oldest);
    this.#isChant = this.#isRegular(places);
    return places.length;
  }

  /** Whether the unit that was taken last completes a chant. */
  get isRepetition(): boolean {
    return this.#isChant;
  }

  #field(place: number, field: number): number {
    return this.#places[(place & this.#mask) * FIELDS + field] ?? 0;
  }

  /** Twice the places; beyond the largest number the oldest ones are overwritten. */
  #makeRoom(): void {
    if (this.#mask + 1 === PLACES_MAX) return;
    const larger = new Int32Array(this.#places.length * 2);
    larger.set(this.#places);
    this.#places = larger;
    this.#mask = this.#mask * 2 + 1;
  }

  /** The newest place behind `oldest` where the chunk that was taken last ends; -1: none. */
  #newestAlike(bucket: number, oldest: number): number {
    let place = (this.#newestInBucket[bucket] ?? 0) - 1;
    while (place > oldest && this.#field(place, HASH) !== this.#hash)
      place = this.#field(place, OLDER_IN_BUCKET) - 1;
    return place > oldest ? place : -1;
  }

  /** The place and those before it where the same chunk ends, newest first, at most CHUNK_TIMES. */
  #placesFrom(newest: number, oldest: number): number[] {
    const places: number[] = [];
    for (let place = newest; place > oldest && places.length < CHUNK_TIMES;) {
      places.push(place);
      place = this.#field(place, OLDER_ALIKE) - 1;
    }
    return places;
  }

  #isRegular(places: readonly number[]): boolean {
    if (places.length < CHUNK_TIMES) return false;
    const [last = 0] = places;
    const [second = 0, first = 0] = places.slice(-2);
    if (last - first > MEAN_DISTANCE_MAX * (CHUNK_TIMES - 1)) return false;
    const distances = new Set(places.slice(1).map((place, i) => (places[i] ?? 0) - place));
    if (distances.size > DISTANCES_MAX) return false;
    const said = this.#field(last, SAID_BEFORE) - this.#field(second, SAID_BEFORE);
    return said >= SAID_BEFORE_MIN * (last - second);
  }
}
