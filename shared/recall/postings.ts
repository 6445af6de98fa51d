/*
 * Where each term stands: the numbers of its texts, ascending, as the differences between them in bytes of seven bits,
 * with one bit for "more than once"; a zero ends the list of a term.
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
    let last = -1;
    for (const [i, text] of texts.entries()) {
      pushNumber(bytes, ((text - last) << 1) | ((counts[i] ?? 1) > 1 ? 1 : 0));
      last = text;
    }
    bytes.push(0);
  }
  return Uint8Array.from(bytes);
}

/** Where the list of each of `terms` terms begins. */
export function postingStarts(packed: Uint8Array, terms: number): Uint32Array {
  const starts = new Uint32Array(terms);
  let term = 1;
  let isWithin = false;
  for (let at = 0; at < packed.length && term < terms; at++) {
    const byte = packed[at] ?? 0;
    if (byte === 0 && !isWithin) starts[term++] = at + 1;
    isWithin = byte >= CONTINUES;
  }
  return starts;
}

/** Reads the list that begins at `start`, of texts before `end` alone; adds them to `into`. */
export function readPosting(
  packed: Uint8Array,
  start: number,
  into: { end: number; add: (text: number, count: number) => void },
): void {
  let text = -1;
  for (let at = start; at < packed.length; at++) {
    let value = 0;
    for (let shift = 0; ; shift += 7, at++) {
      const byte = packed[at] ?? 0;
      value |= (byte & LOW_BITS) << shift;
      if (byte < CONTINUES) break;
    }
    if (value === 0) return;
    text += value >>> 1;
    if (text >= into.end) return;
    into.add(text, (value & 1) + 1);
  }
}
