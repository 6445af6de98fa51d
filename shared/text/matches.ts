/** Nearly every expression finds nothing in nearly every text. */
const noMatches: readonly RegExpExecArray[] = [];

/** Behind an empty match, or it would be found for ever. */
const stepFrom = (text: string, at: number, pattern: RegExp): number =>
  pattern.unicode ? at + ((text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1) : at + 1;

/**
 * All matches of a global expression, as `text.matchAll(pattern)` gives them, without the copy of the
 * expression that it makes on each call: for short texts that copy takes longer than the search. Throws
 * TypeError where the expression is not global.
 */
export function findMatches(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  if (!pattern.global) throw new TypeError(`${pattern.source} is not global`);
  pattern.lastIndex = 0;
  let match = pattern.exec(text);
  if (match === null) return noMatches;
  const matches: RegExpExecArray[] = [];
  while (match !== null) {
    matches.push(match);
    if (match[0] === '') pattern.lastIndex = stepFrom(text, pattern.lastIndex, pattern);
    match = pattern.exec(text);
  }
  return matches;
}
