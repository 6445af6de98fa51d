/**
 * Content is stored as JSON text, not as a map: Firestore refuses arrays in arrays, reserved names and
 * deep nesting, all of which tool arguments may hold, and JSON escapes the lone surrogates that make a
 * write fail for ever. Long text is cut into pieces: a turn's document holds the first of its user
 * content and the first of its answer, which together must fit 1 MiB.
 */
const PIECE_BYTES = 450 * 1024;

/** UTF-8 length of one UTF-16 unit; a surrogate pair counts 2 + 2. */
const unitBytes = (unit: number) => {
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit <= 0xdfff ? 2 : 3;
};

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/** Cuts `text` into pieces of at most `maxBytes` of UTF-8, never inside a code point. At least one piece. */
export function cutIntoPieces(text: string, maxBytes = PIECE_BYTES): string[] {
  const pieces: string[] = [];
  let start = 0;
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const size = unitBytes(unit);
    // A high surrogate moves on together with its low one, so room for both is needed.
    const needed = isHighSurrogate(unit) ? 4 : size;
    if (bytes + needed > maxBytes && i > start && !isHighSurrogate(text.charCodeAt(i - 1))) {
      pieces.push(text.slice(start, i));
      start = i;
      bytes = 0;
    }
    bytes += size;
  }
  pieces.push(text.slice(start));
  return pieces;
}
