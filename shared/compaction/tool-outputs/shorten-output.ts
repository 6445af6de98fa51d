import type { Part } from '#shared/conversation/documents/content.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { toolOutputConstants } from './tool-output-constants.ts';
import {
  blobNamedIn,
  hasMoreLines,
  maskedLines,
  maskedText,
  toToolOutput,
  withOutput,
} from './tool-output-mask.ts';

/** What is looked at of an output to tell whether it is text, UTF-16 units; shorter ones are left alone. */
const SAMPLE_CHARACTERS = 1_000;

/** Share of characters that no text has, from which on an output is none. */
const BINARY_FRACTION = 0.1;

/** Control characters but tab and line ends, and what stands for bytes that are no text. */
const CONTROLS = /(?![\t-\r])[\p{Cc}\ufffd]/gu;
const BASE64 = /^[\w+/=-]+$/u;

/** The page of a stored output that the model has asked for is no output to be shortened again. */
const READING_TOOL = 'read_blob';

/** A heuristic: bytes as text, or as base64 in one line. */
function isBinary(text: string): boolean {
  if (text.length < SAMPLE_CHARACTERS) return false;
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  const controls = sample.match(CONTROLS)?.length ?? 0;
  return controls > BINARY_FRACTION * SAMPLE_CHARACTERS || BASE64.test(sample);
}

interface Shortening {
  /** The name under which the model reads the whole output. */
  blobName: (text: string) => string;
  counting: TokenCounting;
  /** Default 40,000 (UTF-16 units). */
  capCharacters?: number;
}

/**
 * A tool's response whose output is longer than the cap or than 1,000 lines, as its first fifth, a marker that
 * says how it is read back, its blocks on errors and warnings, and its last four fifths: of 1,000 lines where these are
 * within the cap, else of the cap in characters; of what is no text the marker alone. The same part where it is not too long, was shortened before, or would not become shorter.
 */
export function shortenOutput(part: Part, options: Shortening): Part {
  const output = toToolOutput(part);
  const isRead = part.functionResponse?.name === READING_TOOL;
  if (output === undefined || isRead || blobNamedIn(output.text) !== undefined) return part;
  const { text } = output;
  const lines = toolOutputConstants.toolOutputCapLines.value;
  const cap = options.capCharacters ?? toolOutputConstants.toolOutputCapCharacters.value;
  const isBytes = isBinary(text);
  if (!isBytes && text.length <= cap && !hasMoreLines(text, lines)) return part;
  const name = options.blobName(text);
  const byLines = isBytes ? undefined : maskedLines(text, { lines, characters: cap, name });
  const shown = byLines ?? maskedText(text, { characters: isBytes ? 0 : cap, name });
  const short = withOutput(part, output, shown);
  const { counting } = options;
  return estimatePartTokens(short, counting) < estimatePartTokens(part, counting) ? short : part;
}
