import { headOf, tailOf } from '../text-cut.ts';
import { snapshotConstants } from './snapshot-constants.ts';
import { missingIdentifiers } from './facts.ts';
import { estimateTextTokens } from './token-estimate.ts';
import type { TokenCounting, TokenRule } from './token-estimate.ts';

export interface StatedText {
  /** The turn in which it was said. */
  seq: number;
  text: string;
}

export interface AppendedFacts {
  /** Lines for `key_knowledge`, oldest first. */
  sentences: string[];
  /** Identifiers that the sentences contain. */
  identifiers: string[];
  /** Identifiers for which there was no room. */
  leftOut: string[];
}

/** Letters of scripts that put blanks between words; in others a text may be cut anywhere. */
const spaced = String.raw`[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]`;
const wordAtStart = new RegExp(`^${spaced}+`, 'u');
const wordAtEnd = new RegExp(`(?<!${spaced})${spaced}+$`, 'u');
const isInWord = new RegExp(`^${spaced}{2}$`, 'u');

/** The end of `text`, at most `characters` long, beginning with a whole word. */
function wordsBefore(text: string, characters: number): string {
  const cut = tailOf(text, characters);
  const cutAt = text.length - cut.length;
  return isInWord.test(text.slice(cutAt - 1, cutAt + 1)) ? cut.replace(wordAtStart, '') : cut;
}

/** The beginning of `text`, at most `characters` long, ending with a whole word. */
function wordsAfter(text: string, characters: number): string {
  const cut = headOf(text, characters);
  const isCutInWord = isInWord.test(text.slice(cut.length - 1, cut.length + 1));
  return isCutInWord ? cut.replace(wordAtEnd, '') : cut;
}

/** The words around an identifier, none of them cut; the whole text where it is short. */
function around(text: string, identifier: string, characters: number): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  if (flat.length <= characters) return flat;
  const at = flat.toLowerCase().indexOf(identifier.toLowerCase());
  // Written otherwise (full-width, with commas): the identifier alone is the safe quote.
  if (at === -1) return identifier;
  const side = Math.max(0, Math.floor((characters - identifier.length) / 2));
  const end = at + identifier.length;
  const before = wordsBefore(flat.slice(0, at), side).trimStart();
  const after = wordsAfter(flat.slice(end), side).trimEnd();
  const start = before.length < at ? '…' : '';
  return `${start}${before}${flat.slice(at, end)}${after}${end + after.length < flat.length ? '…' : ''}`;
}

/** Less room than the words around a quote take: the rest need not be tried. */
const SENTENCE_TOKENS = 8;

/** The plain search first: it is cheap and says no nearly always. */
function isQuoted(identifier: string, sentences: string): boolean {
  return (
    sentences.includes(identifier) && missingIdentifiers([identifier], [sentences]).length === 0
  );
}

function attempt(input: AppendInput, characters: number): AppendedFacts {
  const sentences: string[] = [];
  const said = new Set<string>();
  const leftOut = new Set<string>();
  let room = input.budgetTokens;
  for (const { seq, text, missing } of input.missingByText) {
    let ownSentences = '';
    for (const identifier of missing) {
      if (said.has(identifier) || isQuoted(identifier, ownSentences)) {
        said.add(identifier);
        continue;
      }
      const sentence =
        room < SENTENCE_TOKENS
          ? undefined
          : `- The user said (turn ${seq}): "${around(text, identifier, characters)}"`;
      // Written otherwise than its identifier, such as 1,204.50: it is quoted already.
      if (sentence !== undefined && ownSentences.includes(`${sentence}\n`)) {
        said.add(identifier);
        continue;
      }
      const tokens = estimateTextTokens(`${sentence ?? ''}\n`, input.rule);
      if (sentence === undefined || tokens > room) {
        leftOut.add(identifier);
        continue;
      }
      room -= tokens;
      said.add(identifier);
      sentences.push(sentence);
      ownSentences += `${sentence}\n`;
    }
  }
  const isUnsaid = (identifier: string): boolean => !said.has(identifier);
  return { sentences, identifiers: [...said], leftOut: [...leftOut].filter(isUnsaid) };
}

interface AppendInput {
  missingByText: readonly (StatedText & { missing: readonly string[] })[];
  budgetTokens: number;
  rule: TokenRule | TokenCounting;
}

/**
 * Sentences that quote each identifier of `statedTexts` which `presentTexts` lack, with the turn it
 * comes from, within `budgetTokens`. Where full sentences do not fit, all are made shorter.
 */
export function appendStatedFacts(input: {
  statedTexts: readonly StatedText[];
  presentTexts: readonly string[];
  budgetTokens: number;
  rule: TokenRule | TokenCounting;
}): AppendedFacts {
  const missing = new Set(
    missingIdentifiers(
      input.statedTexts.map((stated) => stated.text),
      input.presentTexts,
    ),
  );
  if (missing.size === 0) return { sentences: [], identifiers: [], leftOut: [] };
  const missingByText = input.statedTexts.flatMap((stated) => {
    const own = missingIdentifiers([stated.text], []).filter((identifier) =>
      missing.has(identifier),
    );
    return own.length === 0 ? [] : [{ ...stated, missing: own }];
  });
  const options = { missingByText, budgetTokens: input.budgetTokens, rule: input.rule };
  const longest = snapshotConstants.appendedFactCharacters.value;
  const first = attempt(options, longest);
  if (first.leftOut.length === 0) return first;
  const second = attempt(options, longest / 4);
  return second.leftOut.length < first.leftOut.length ? second : first;
}
