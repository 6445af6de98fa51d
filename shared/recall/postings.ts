/*
 * Where each term stands: how many texts have it, then their numbers, ascending, as the differences between them with one
 * bit for "more than once"; all in bytes of seven bits.
 */

/** Of a byte: another one of the same number follows. */
const CONTINUES = 0x80;
/** The bits of a byte that belong to its number. */
const LOW_BITS = 0x7f;

function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > LOW_BITS) {
    bytes.push((rest & LOW_BITS) | CONTINUES);
    rest >>>= 7;
  }
  bytes.push(rest);
}

/** Texts with a term, ascending, and how often each has it: once, or more (2). */
export interface Posting {
  texts: number[];
  counts: number[];
}

/** The postings of terms in the order given. */
export function packPostings(postings: readonly Posting[]): Uint8Array {
  const bytes: number[] = [];
  for (const { texts, counts } of postings) {
    pushNumber(bytes, texts.length);
    let last = -1;
    for (const [i, text] of texts.entries()) {
      pushNumber(bytes, ((text - last) << 1) | ((counts[i] ?? 1) > 1 ? 1 : 0));
      last = text;
    }
  }
  return Uint8Array.from(bytes);
}

/** The number that begins at `at`, and where the next one does. */
function numberAt(packed: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0, next = at; ; shift += 7, next++) {
    const byte = packed[next] ?? 0;
    value |= (byte & LOW_BITS) << shift;
    if (byte < CONTINUES) return { value, next: next + 1 };
  }
}

/** Where the list of each of `terms` terms begins. */
export function postingStarts(packed: Uint8Array, terms: number): Uint32Array {
  const starts = new Uint32Array(terms);
  let at = 0;
  for (let term = 0; term < terms; term++) {
    starts[term] = at;
    const { value: texts, next } = numberAt(packed, at);
    at = next;
    for (let left = texts; left > 0 && at < packed.length; at++)
      if ((packed[at] ?? 0) < CONTINUES) left--;
  }
  return starts;
}

/** How many texts the list that begins at `start` has. */
export const postingLength = (packed: Uint8Array, start: number): number =>
  numberAt(packed, start).value;

/** The list that begins at `start`, of texts before `end` alone. */
export function readPosting(packed: Uint8Array, start: number, end: number): Posting {
  const posting: Posting = { texts: [], counts: [] };
  const { value: length, next } = numberAt(packed, start);
  let at = next;
  let text = -1;
  for (let left = length; left > 0 && at < packed.length; left--) {
    // As `numberAt`, which would make an object for each text.
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = packed[at++] ?? 0;
      value |= (byte & LOW_BITS) << shift;
      if (byte < CONTINUES) break;
    }
    text += value >>> 1;
    if (text >= end) break;
    posting.texts.push(text);
    posting.counts.push((value & 1) + 1);
  }
  return posting;
}
