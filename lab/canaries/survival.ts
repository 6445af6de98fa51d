import type { Canary } from './canary.ts';

/** Characters on each side of a value within which all that belongs to it must stand. */
const TOGETHER = 150;

/** The same for a word that says that a value is past. */
const NEAR = 40;

/** What says that a value beside it is past. */
const isPast =
  /\b(?:no longer|not|instead of|previous\w*|former\w*|was|were|before|original\w*|initial\w*|first|then|now|earlier|old|correct\w*|chang\w*|replac\w*|supersed\w*|wrong|mistake\w*|mix\w*|outdated|rather than|updated)\b|→|->|~~/u;

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

/** Where a plain text says a plain value: as a whole, not as a part of a longer word or figure. */
function findPlaces(text: string, value: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const isWordBefore = /[\p{L}\p{N}]$|\d[.,:]$/u.test(text.slice(Math.max(0, at - 2), at));
    const after = text.slice(at + value.length, at + value.length + 2);
    const goesOn = /^[\p{L}\p{N}]|^[.,:]\d/u.test(after);
    const startsWithSign = /^[^\p{L}\p{N}]/u.test(value);
    if ((!isWordBefore || startsWithSign) && !goesOn) places.push(at);
  }
  return places;
}

/** What stands around each place where a plain text says one of the wordings, to whole words. */
function surroundings(text: string, wordings: readonly string[], characters: number): string[] {
  return wordings.map(plain).flatMap((value) =>
    findPlaces(text, value).map((at) => {
      const before = text.slice(Math.max(0, at - characters), at);
      const behind = text.slice(at + value.length, at + value.length + characters);
      const isCutBefore = before.length === characters;
      const isCutBehind = behind.length === characters;
      return [
        isCutBefore ? before.replace(/^\S+/u, '') : before,
        value,
        isCutBehind ? behind.replace(/\S+$/u, '') : behind,
      ].join('');
    }),
  );
}

/** Whether a text says all that the canary says in one place. */
export function isStated(
  { needs: [main = [], ...others] }: Pick<Canary, 'needs'>,
  text: string,
): boolean {
  return surroundings(plain(text), main, TOGETHER).some((around) =>
    others.every((wordings) =>
      wordings.some((wording) => findPlaces(around, plain(wording)).length > 0),
    ),
  );
}

/** Whether the value that was corrected stands in a text without a word beside it that says that it is past. */
export const isOutdated = ({ outdated }: Pick<Canary, 'outdated'>, text: string): boolean =>
  outdated !== undefined &&
  plain(text)
    .split('\n')
    .flatMap((line) => surroundings(line, [outdated], NEAR))
    .some((around) => !isPast.test(around));

/** Whether a text says what the canary says, and not what it replaced. */
export const survives = (canary: Canary, text: string): boolean =>
  isStated(canary, text) && !isOutdated(canary, text);
