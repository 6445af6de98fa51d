import { cutHead } from '#shared/text/cut.ts';
import { once } from '../once.ts';
import { neutraliseTags } from '#shared/compaction/neutralise-tags.ts';

/** Line ends that JSON does not escape. */
const lineEnds = /[\u0085\u2028\u2029]/g;

/**
 * A value as JSON on one line, so that no text of it can pose as a line beside it; and without tags of the snapshot's
 * format.
 */
export const quotedValue = (value: string | object): string =>
  neutraliseTags(
    JSON.stringify(value).replaceAll(
      lineEnds,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );

const figures = once(() => new Intl.NumberFormat('en-US'));

/** A text of at most the limit, and behind it how much is missing; cut between graphemes. */
export function cutText(text: string, maxCharacters = CONTEXT_VALUE_MAX_CHARACTERS): string {
  if (text.length <= maxCharacters) return text;
  const kept = cutHead(text, maxCharacters);
  return `${kept} [${figures().format(text.length - kept.length)} more characters are left out]`;
}

interface CutList {
  entries: string[];
  /** Entries before them that are left out. */
  leftOut: number;
}

/** The newest entries, which stand last, that have at most the limit together: at least the last one, cut. */
export function cutList(
  entries: readonly string[],
  maxCharacters = CONTEXT_VALUE_MAX_CHARACTERS,
): CutList {
  let room = maxCharacters;
  let first = entries.length;
  // An empty entry takes its place too.
  for (let at = entries.length - 1; at >= 0; at--) {
    room -= Math.max(1, entries[at]?.length ?? 0);
    if (room < 0) break;
    first = at;
  }
  const kept = entries.slice(Math.min(first, Math.max(0, entries.length - 1)));
  return {
    entries: kept.map((entry) => cutText(entry, maxCharacters)),
    leftOut: entries.length - kept.length,
  };
}
/** UTF-16 units of one value, the text that stands for what was cut not counted; Gemini CLI's bound of a selection. */
export const CONTEXT_VALUE_MAX_CHARACTERS = 16384;
