/**
 * Signs that tell at once what a text cannot hold: no time without a colon, no name without a capital. They are looked
 * for in one pass, and spare most of the expressions of this folder, of which each alone takes as long.
 */
export const signs = {
  /** Anything that is not ASCII. */
  beyondAscii: 1,
  figure: 2,
  capital: 4,
  colon: 8,
  /** Quotation marks, back quotes and apostrophes. */
  quote: 16,
  /** Slashes and back slashes. */
  slash: 32,
  /** A hyphen or a point. */
  join: 64,
  percent: 128,
  plus: 256,
} as const;

function signOf(code: number): number {
  const character = String.fromCharCode(code);
  if (/[0-9]/.test(character)) return signs.figure;
  if (/[A-Z]/.test(character)) return signs.capital;
  if (character === ':') return signs.colon;
  if (/["'`]/.test(character)) return signs.quote;
  if (/[/\\]/.test(character)) return signs.slash;
  if (/[.-]/.test(character)) return signs.join;
  if (character === '%') return signs.percent;
  return character === '+' ? signs.plus : 0;
}

/** Behind the last ASCII character. */
const ASCII_END = 128;
const table = Uint16Array.from({ length: ASCII_END }, (_, code) => signOf(code));

function read(text: string): number {
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    found |= code < ASCII_END ? (table[code] ?? 0) : signs.beyondAscii;
  }
  return found;
}

/** The text that was asked about last: many questions about one text follow each other. */
let last = { text: '', found: 0 };

/** Whether a text holds any of these signs, `signs.colon | signs.plus`. */
export function holdsSign(text: string, wanted: number): boolean {
  if (text !== last.text) last = { text, found: read(text) };
  return (last.found & wanted) !== 0;
}
