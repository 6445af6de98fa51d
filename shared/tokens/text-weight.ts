import { tokenConstants } from './token-constants.ts';

/**
 * `character-class` (default): weight by kind of character, everywhere the same, tool JSON included.
 * `gemini-cli`: the answers of that program before May 2026, for comparison and its profile.
 */
export type TokenRule = 'character-class' | 'gemini-cli';

/** Weights are kept in hundredths of a token, so that sums stay whole; the table covers all UTF-16 units. */
export const WEIGHT_UNIT = 100;
const ASCII_END = 128;
const CODE_UNITS = 65_536;
/** Small enough that the sum of a block stays a 31-bit integer, which keeps the loop fast. */
const BLOCK_LENGTH = 1 << 20;

function characterClassWeight(code: number): number {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return tokenConstants.lowerCaseWeight;
  if (/[A-Z]/.test(character)) return tokenConstants.upperCaseWeight;
  if (character === ' ') return tokenConstants.blankWeight;
  if (/[0-9]/.test(character)) return tokenConstants.digitWeight;
  return tokenConstants.otherAsciiWeight;
}

/** Models are not shown declarations as JSON: most of its signs are not there. */
function declarationWeight(code: number): number {
  const isSign = '{}[]":,'.includes(String.fromCharCode(code));
  return isSign ? tokenConstants.declarationSignWeight : characterClassWeight(code);
}

/** Weight of every UTF-16 unit; half of a surrogate pair counts half a code point, so no half is free. */
function weightTable(asciiWeight: (code: number) => number, otherWeight: number): Uint8Array {
  const table = new Uint8Array(CODE_UNITS).fill(otherWeight);
  table.fill(otherWeight / 2, 0xd800, 0xe000);
  for (let code = 0; code < ASCII_END; code++) table[code] = asciiWeight(code);
  return table;
}

const weights: Readonly<Record<TokenRule, Uint8Array>> = {
  'character-class': weightTable(characterClassWeight, tokenConstants.otherCodePointWeight),
  'gemini-cli': weightTable(() => tokenConstants.peerAsciiWeight, tokenConstants.peerOtherWeight),
};

const declarationWeights: Readonly<Record<TokenRule, Uint8Array>> = {
  'character-class': weightTable(declarationWeight, tokenConstants.otherCodePointWeight),
  'gemini-cli': weights['gemini-cli'],
};

/** Characters that are looked at together, and where their bytes stand meanwhile. */
const ASCII_BLOCK = 4_096;
const asciiBlock = new Uint8Array(ASCII_BLOCK);
const encoder = new TextEncoder();

/**
 * The weight of the blocks that are ASCII alone, from the start on, and where they end. Engines encode them, and read
 * bytes, several times as fast as they look up the characters of a string.
 */
function sumOfAscii(text: string, table: Uint8Array): { sum: number; end: number } {
  let sum = 0;
  let end = 0;
  while (end < text.length) {
    const block = text.slice(end, end + ASCII_BLOCK);
    const { read, written } = encoder.encodeInto(block, asciiBlock);
    if (read < block.length || written > read) break;
    for (let index = 0; index < written; index++) sum += table[asciiBlock[index] ?? 0] ?? 0;
    end += read;
  }
  return { sum, end };
}

function sumOf(text: string, table: Uint8Array): number {
  const ascii = sumOfAscii(text, table);
  let total = ascii.sum;
  for (let start = ascii.end; start < text.length; start += BLOCK_LENGTH) {
    const end = Math.min(text.length, start + BLOCK_LENGTH);
    let sum = 0;
    for (let index = start; index < end; index++)
      sum = (sum + (table[text.charCodeAt(index)] ?? 0)) | 0;
    total += sum;
  }
  return total;
}

/** What a text weighs, in hundredths of a token. */
export const textWeight = (text: string, rule: TokenRule): number => sumOf(text, weights[rule]);

/** What tool declarations weigh, given as JSON. */
export const declarationsWeight = (json: string, rule: TokenRule): number =>
  sumOf(json, declarationWeights[rule]);
