/** UTF-16 units of the chunk whose repetition is looked for, as in Gemini CLI. */
export const CHUNK_CHARACTERS = 50;
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

/** Larger than the window, and a power of two. */
const RING = 8_192;
const at = (place: number) => place % RING;

/** Of the rolling hash: above all UTF-16 units, and products below 2^53. */
const BASE = 65_599;
/** Of the rolling hash: a prime. */
const MODULUS = 2_147_483_647;
/** BASE to the power of CHUNK_CHARACTERS - 1. */
const LEADING = Array.from({ length: CHUNK_CHARACTERS - 1 }).reduce<number>(
  (power) => (power * BASE) % MODULUS,
  1,
);

/** What the character that was taken last is. */
export interface Repetition {
  /** How often the chunk that ends with it stands in the window, itself included; 0 before there is one. */
  times: number;
  isChant: boolean;
}

const none: Repetition = { times: 0, isChant: false };

/** Places without overlaps where one chunk ends, oldest first, at most CHUNK_TIMES of them. */
type Places = number[];

/**
 * Looks for chunks that stand again and again in a text as it comes, code unit by code unit. Constant time and
 * memory for each: it knows the last 5,000 characters by rolling hashes. Two chunks of the same hash count
 * as one; that ten of them in regular distances are different texts does not happen by chance.
 */
export function createRepeatedChunks() {
  const codes = new Uint16Array(RING);
  const hashes = new Int32Array(RING);
  /** Characters so far that ended a chunk which had been said before. */
  const saidBefore = new Float64Array(RING);
  const placesOf = new Map<number, Places>();
  let next = 0;
  let hash = 0;

  const roll = (place: number, code: number) => {
    if (place >= CHUNK_CHARACTERS) {
      const leaving = codes[at(place - CHUNK_CHARACTERS)] ?? 0;
      hash = (hash + MODULUS - ((leaving * LEADING) % MODULUS)) % MODULUS;
    }
    hash = (hash * BASE + code) % MODULUS;
    codes[at(place)] = code;
    hashes[at(place)] = hash;
  };
  const forget = (place: number) => {
    const old = hashes[at(place)] ?? 0;
    const places = placesOf.get(old);
    if (places?.[0] !== place) return;
    places.shift();
    if (places.length === 0) placesOf.delete(old);
  };
  const isChant = (places: Places): boolean => {
    const [first = 0, second = 0] = places;
    const last = places.at(-1) ?? 0;
    if (places.length < CHUNK_TIMES) return false;
    if (last - first > MEAN_DISTANCE_MAX * (CHUNK_TIMES - 1)) return false;
    const distances = new Set(places.slice(1).map((place, i) => place - (places[i] ?? 0)));
    if (distances.size > DISTANCES_MAX) return false;
    const said = (saidBefore[at(last)] ?? 0) - (saidBefore[at(second)] ?? 0);
    return said >= SAID_BEFORE_MIN * (last - second);
  };

  return {
    /** Takes one UTF-16 unit. */
    take(code: number): Repetition {
      const place = next++;
      roll(place, code);
      if (place < CHUNK_CHARACTERS - 1) return none;
      forget(place - (WINDOW_CHARACTERS - CHUNK_CHARACTERS));
      const places = placesOf.get(hash) ?? [];
      const before = place < CHUNK_CHARACTERS ? 0 : (saidBefore[at(place - 1)] ?? 0);
      saidBefore[at(place)] = before + (places.length > 0 ? 1 : 0);
      const lastPlace = places.at(-1);
      if (lastPlace !== undefined && place - lastPlace < CHUNK_CHARACTERS)
        return { times: places.length, isChant: false };
      if (lastPlace === undefined) placesOf.set(hash, places);
      places.push(place);
      if (places.length > CHUNK_TIMES) places.shift();
      return { times: places.length, isChant: isChant(places) };
    },
    /** Forgets all that was taken. */
    clear(): void {
      placesOf.clear();
      next = 0;
      hash = 0;
    },
    /** Chunks that it remembers. */
    size: (): number => placesOf.size,
  };
}
