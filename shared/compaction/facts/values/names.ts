import { commonCapitals } from '../languages/common-words.ts';
import { findAll, type FactMatch } from '../index/fact-match.ts';
import { once } from '#shared/once.ts';
import { plainText } from '#shared/text/plain-text.ts';
import { holdsSign, signs } from '../index/signs.ts';

const capital = String.raw`\p{Lu}[\p{L}\p{M}\d]{0,30}(?:['-][\p{L}\p{M}]{1,20}){0,2}`;
const link = String.raw`(?:of the|of|de la|de|del|della|di|da|dos|van der|van|von|bin|al|the|&|y|und)`;
/** A state or province behind a city: Portland, OR. */
const state = String.raw`(?:, \p{Lu}{2})?`;
/** Whether a name ends in it. */
export const endsInState = /, \p{Lu}{2}$/u;
const run = new RegExp(
  String.raw`(?<![\p{L}\p{M}\p{N}_#@/.-])${capital}(?: (?:${link} )?${capital}){0,5}${state}(?![\p{L}\p{M}\p{N}_])`,
  'gu',
);
const sentenceStart = /(?:^|[.!?:\n"(*•…—]|[.!?]["')])\s{0,4}[-*>"'(\]]{0,2}\s{0,2}$/u;
/** A word before a name that makes it a value: where to, with whom, called what. */
const valueBefore =
  /\b(?:from|to|in|at|near|by|with|for|via|named?|called|is|starring|directed|like|want|book|watch|try|visit|see|on|and|or|remove|add|change|choose|prefer|of|am|i'm)\s{1,2}(?:the\s)?$/i;
const germanWords = /\b(?:und|nicht|ich|der|die|das|ist|für|mit|ein|eine|auf|wir|sie)\b/gi;
const germanBefore = /\b(?:heiße|name ist|nenn(?:e|t) mich|herrn?|frau|familie|nach|aus|bei)\s$/i;

/** German writes every noun with a capital: there one word is a name only behind certain words. */
const isGerman = (text: string): boolean =>
  (text.slice(0, 4_000).match(germanWords) ?? []).length >= 3;

function withoutCommon(words: readonly string[]): { dropped: number; kept: number } {
  const isCommon = (word: string | undefined): boolean =>
    word !== undefined && (commonCapitals.has(word.toLowerCase()) || /^\p{Ll}/u.test(word));
  let dropped = 0;
  while (dropped < words.length && isCommon(words[dropped])) dropped += 1;
  let kept = words.length;
  while (kept > dropped && isCommon(words[kept - 1])) kept -= 1;
  return { dropped, kept };
}

/** What stands before a name decides how sure it is. */
function strengthOf(input: { before: string; words: number; isFirst: boolean; isGerman: boolean }) {
  const isAtStart = input.isFirst && sentenceStart.test(input.before);
  if (input.isGerman && input.words === 1)
    return germanBefore.test(input.before) ? 'value' : 'none';
  if (input.words > 1) return 'value';
  if (isAtStart) return 'weak';
  return valueBefore.test(input.before) ? 'value' : 'plain';
}

/** A name, and whether its place says that it is the value of something. */
interface NameFound extends FactMatch {
  isValue: boolean;
}

/**
 * Capitalised words, joined ones as one name. Weak: one word that begins a sentence. Heuristics: a list of
 * common English words is no name; German nouns are left out; names in lower case are not seen.
 */
export function findNames(text: string): NameFound[] {
  if (!holdsSign(text, signs.capital | signs.beyondAscii)) return [];
  const german = once(() => isGerman(text));
  const read = (match: RegExpExecArray): NameFound | undefined => {
    const words = match[0].split(' ');
    const { dropped, kept } = withoutCommon(words);
    if (dropped >= kept) return undefined;
    const offset = words.slice(0, dropped).reduce((sum, word) => sum + word.length + 1, 0);
    const name = words.slice(dropped, kept).join(' ').replace(/,$/, '');
    if (name.length < 2 || (name.length > 12 && name === name.toUpperCase())) return undefined;
    const start = match.index + offset;
    const strength = strengthOf({
      before: text.slice(Math.max(0, start - 24), start),
      words: kept - dropped,
      isFirst: dropped === 0,
      isGerman: german(),
    });
    if (strength === 'none') return undefined;
    return {
      kind: 'name',
      start,
      end: start + name.length,
      readings: [plainText(name)],
      isWeak: strength === 'weak',
      isValue: strength === 'value',
    };
  };
  // The expression takes one blank between words, so joining them again keeps the length.
  return findAll(text, run, read).filter((found): found is NameFound => 'isValue' in found);
}
