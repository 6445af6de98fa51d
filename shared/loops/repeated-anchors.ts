import { WINDOW_CHARACTERS } from './repeated-chunks.ts';
import { CHUNK_CHARACTERS, createRollingHash } from './rolling-hash.ts';

/** Of so many chunks that end next to each other one is an anchor. A power of two. */
export const ANCHOR_SPAN = 16;

/** Characters that are kept at first, as many as short answers have; doubled when they come up to it, */
const CODES_MIN = 1_024;
/** but not beyond this: larger than the window. Both are powers of two. */
const CODES_MAX = 8_192;
/** About as many anchors lie in the window; old ones are forgotten beyond that. */
const ANCHORS_MAX = 1_024;

/** Spreads hashes, so that which of them is the least says nothing about the text. */
const SPREAD = 0x9e_37_79_b1;

/**
 * Looks whether a text says something again, by a small part of its chunks: the one with the least hash of each sixteen
 * next to each other (winnowing: Schleimer, Wilkerson and Aiken, 2003). Of 65 characters that stand twice within 5,000
 * one anchor is the same, wherever they stand. Most answers repeat nothing, and need no closer look.
 */
export class RepeatedAnchors {
  readonly #roll = createRollingHash();
  readonly #newest = new Uint32Array(ANCHOR_SPAN);
  readonly #placeOf = new Map<number, number>();
  #codes = new Uint16Array(CODES_MIN);
  #mask = CODES_MIN - 1;
  #next = 0;
  #anchor = -1;
  #least = 0;

  /** Takes one UTF-16 unit; whether it brings an anchor that stands in the window already. */
  take(code: number): boolean {
    const place = this.#next++;
    if (place > this.#mask) this.#makeRoom();
    this.#codes[place & this.#mask] = code;
    const hash = Math.imul(this.#roll.take(code), SPREAD) >>> 0;
    if (place < CHUNK_CHARACTERS - 1) return false;
    this.#newest[place % ANCHOR_SPAN] = hash;
    if (this.#anchor < 0 || hash <= this.#least) return this.#choose(place, hash);
    return this.#anchor <= place - ANCHOR_SPAN && this.#chooseAgain(place);
  }

  /** The characters of the window, oldest first. */
  characters(): number[] {
    const length = Math.min(this.#next, WINDOW_CHARACTERS);
    const start = this.#next - length;
    return Array.from({ length }, (_, i) => this.#codes[(start + i) & this.#mask] ?? 0);
  }

  #makeRoom(): void {
    if (this.#mask + 1 === CODES_MAX) return;
    const larger = new Uint16Array(this.#codes.length * 2);
    larger.set(this.#codes);
    this.#codes = larger;
    this.#mask = larger.length - 1;
  }

  /** The newest of the least hashes among the newest places. */
  #chooseAgain(place: number): boolean {
    let chosen = place;
    let least = this.#newest[place % ANCHOR_SPAN] ?? 0;
    for (let other = place - 1; other > place - ANCHOR_SPAN; other--) {
      const hash = this.#newest[other % ANCHOR_SPAN] ?? 0;
      if (hash < least) [chosen, least] = [other, hash];
    }
    return this.#choose(chosen, least);
  }

  #choose(place: number, hash: number): boolean {
    this.#anchor = place;
    this.#least = hash;
    const oldest = place - (WINDOW_CHARACTERS - CHUNK_CHARACTERS);
    const before = this.#placeOf.get(hash);
    if (before !== undefined && before > oldest) return true;
    // Last in the order of the map, as the newest.
    this.#placeOf.delete(hash);
    this.#placeOf.set(hash, place);
    if (this.#placeOf.size > ANCHORS_MAX) this.#forget(oldest);
    return false;
  }

  #forget(oldest: number): void {
    for (const [hash, place] of this.#placeOf) {
      if (place > oldest) return;
      this.#placeOf.delete(hash);
    }
  }
}
