import type { Canary } from './canary.ts';

/** Lines that are read together: what belongs together may stand in two of them. */
const WINDOW_LINES = 2;

/** What says in a line that a value in it is past. */
const isPast =
  /\b(?:no longer|not|instead of|previously|formerly|was|were|before|originally|initially|earlier|old|corrected|correction|changed|replac\w*|supersed\w*|wrong|mistaken\w*|outdated|rather than|updated?)\b|→|->/u;

/**
 * A text in the form in which it is searched: lower case, plain quotes and dashes, no thousands separators, one space
 * between words and between a figure and its unit.
 */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/&(amp|lt|gt|quot|apos);/gu, (_, name: string) => entities[name] ?? '')
    .replaceAll(/[‘’ʼ]/gu, "'")
    .replaceAll(/[“”„«»]/gu, '"')
    .replaceAll(/[‐‑‒–—−]/gu, '-')
    .replaceAll(/[*`_]/gu, '')
    .replaceAll(/(?<=\d)[,' ](?=\d{3}(?!\d))/gu, '')
    .replaceAll(/(?<=\d)[ -]?(?=\p{L})/gu, ' ')
    .replaceAll(/[^\S\n]+/gu, ' ');

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Whether a plain text says a plain value: as a whole, not as a part of a longer word or figure. */
function says(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const isWordBefore = /[\p{L}\p{N}]$|\d[.,:]$/u.test(text.slice(Math.max(0, at - 2), at));
    const after = text.slice(at + value.length, at + value.length + 2);
    const goesOn = /^[\p{L}\p{N}]|^[.,:]\d/u.test(after);
    const startsWithSign = /^[^\p{L}\p{N}]/u.test(value);
    if ((!isWordBefore || startsWithSign) && !goesOn) return true;
  }
  return false;
}

const saysAny = (text: string, values: readonly string[]): boolean =>
  values.some((value) => says(text, plain(value)));

/** Whether two lines that follow each other say all that the canary says. */
export function isStated({ needs }: Pick<Canary, 'needs'>, text: string): boolean {
  const lines = plain(text).split('\n');
  return lines.some((_, index) => {
    const window = lines.slice(index, index + WINDOW_LINES).join('\n');
    return needs.every((wordings) => saysAny(window, wordings));
  });
}

/** Whether a line gives the value that was corrected, and neither the new one nor that it is past. */
export function isOutdated(
  { needs, outdated }: Pick<Canary, 'needs' | 'outdated'>,
  text: string,
): boolean {
  if (outdated === undefined) return false;
  return plain(text)
    .split('\n')
    .some(
      (line) =>
        saysAny(line, [outdated]) &&
        !isPast.test(line) &&
        !needs.every((wordings) => saysAny(line, wordings)),
    );
}

/** Whether a text says what the canary says, and not what it replaced. */
export const survives = (canary: Canary, text: string): boolean =>
  isStated(canary, text) && !isOutdated(canary, text);
