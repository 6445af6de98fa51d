import { withoutQuotations } from '#shared/compaction/facts/speech/own-words.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { oneLine } from '#shared/text/one-line.ts';
import { restatedWords } from '../items/restated-words.ts';
import type { TurnEvidence } from '../prompt/turn-evidence.ts';
import { distinctWords, functionWords } from '#shared/text/words.ts';

export type ConstraintRefusal =
  'NO_QUOTE' | 'QUOTE_TOO_SHORT' | 'QUOTE_NOT_OF_USER' | 'QUOTE_NOT_LATER';

type UserStatement =
  /** `sources`: the cited turns whose user says the quote. */
  { ok: true; quote: string; sources: number[] } | { ok: false; reason: ConstraintRefusal };

const wideScripts = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** Characters of a quote; those that stand for a syllable or a word count twice. */
const weightOf = (quote: string): number =>
  Array.from(quote).length + (quote.match(wideScripts)?.length ?? 0);

/** What an operation names as its proof. */
export interface Cited {
  quote: string | undefined;
  /** What is said; without a quote it must itself be words of the user. */
  text?: string;
  sources: readonly number[];
}

/**
 * The turns in which the user says a quote himself. Where the quote has a quotation in it, that one may be of
 * others, but more of the quote than that must be his.
 */
function holdersOf(quote: string, sources: readonly number[], evidence: TurnEvidence): number[] {
  const own = oneLine(withoutQuotations(quote));
  if (own === quote) return sources.filter((seq) => evidence.unquoted(seq).includes(quote));
  return 2 * weightOf(own) > weightOf(quote)
    ? sources.filter((seq) => evidence.user(seq).includes(quote))
    : [];
}

/** What stands for a quote where there is none: the words of the user that the text repeats. They are held to the same rules. */
function quoteInstead({ text = '', sources }: Cited, evidence: TurnEvidence): string | undefined {
  for (const seq of sources) {
    const words = restatedWords(evidence.user(seq), text);
    if (words !== undefined) return words;
  }
  return undefined;
}

function quotedTurns(
  cited: Cited,
  evidence: TurnEvidence,
  minimumCharacters: number,
): UserStatement {
  const { sources } = cited;
  const quote = cited.quote ?? quoteInstead(cited, evidence);
  if (quote === undefined) return { ok: false, reason: 'NO_QUOTE' };
  const holders = holdersOf(quote, sources, evidence);
  if (holders.length === 0) return { ok: false, reason: 'QUOTE_NOT_OF_USER' };
  const isEnough =
    weightOf(quote) >= minimumCharacters || holders.some((seq) => evidence.user(seq) === quote);
  return isEnough
    ? { ok: true, quote, sources: holders }
    : { ok: false, reason: 'QUOTE_TOO_SHORT' };
}

/** Whether the user says himself, in a cited turn, what a new constraint quotes; without a quote, what it says. */
export const statedByUser = (cited: Cited, evidence: TurnEvidence): UserStatement =>
  quotedTurns(cited, evidence, ledgerConstants.constraintQuoteCharacters.value);

/** The same for the change or the end of a constraint: the user must say it after turn `lastSource`. */
export function withdrawnByUser(
  cited: Cited,
  evidence: TurnEvidence,
  lastSource: number,
): UserStatement {
  const stated = quotedTurns(cited, evidence, ledgerConstants.withdrawalQuoteCharacters.value);
  if (!stated.ok) return stated;
  const sources = stated.sources.filter((seq) => seq > lastSource);
  return sources.length === 0 ? { ok: false, reason: 'QUOTE_NOT_LATER' } : { ...stated, sources };
}

/** Words that turn a rule into its contrary, in the nine languages in which wishes are recognised. */
const turningWords: ReadonlySet<string> = new Set(
  (
    'never always not no none only must without unless except ' +
    'nie niemals immer nicht kein keine keinen nur ohne außer ' +
    'jamais toujours pas sans aucun aucune seulement sauf ' +
    'nunca jamás siempre sin solo sólo excepto salvo jamais sempre não sem só mai non senza ' +
    '절대 절대로 항상 반드시 꼭 늘 절대 必ず 絶対 決し 常に 总是 永远 绝对 绝不 不要 必须 只能 除非 總是 絕對 必須'
  ).split(' '),
);

/** The sentences of the user in which a quote stands, and what is his of the quote where it is none of them whole. */
function sayingsOf(sentences: readonly string[], quote: string): string[] {
  const saying = sentences.filter(
    (sentence) => sentence !== '' && (sentence.includes(quote) || quote.includes(sentence)),
  );
  return saying.length > 0 ? saying : [withoutQuotations(quote)];
}

/** Words that tell whose rule it is, and nothing of what it rules. */
const neutralWords: ReadonlySet<string> = new Set(
  (
    'user users assistant wants want wanted asks asked prefers says said wishes their his her them him they he she ' +
    'nutzer benutzer möchte will utilisateur veut souhaite usuario quiere pide usuário quer utente vuole 用户 使用者 사용자'
  ).split(' '),
);

const figures = /\d+(?:[.,:/-]\d+)*/gu;
const figuresIn = (text: string): string[] => text.normalize('NFKC').match(figures) ?? [];

/** Whether a sentence has a word or a figure of its own that none of the sayings has. */
function addsWords(sentence: string, sayings: readonly string[]): boolean {
  const words = [...distinctWords(sentence)];
  return sayings.every((saying) => {
    const said = distinctWords(saying);
    const numbers = new Set(figuresIn(saying));
    const isForeign = (word: string): boolean =>
      !said.has(word) &&
      (turningWords.has(word) || !(functionWords.has(word) || neutralWords.has(word)));
    return words.some(isForeign) || figuresIn(sentence).some((figure) => !numbers.has(figure));
  });
}

/** Share of the words of a quote below which a text names a rule and does not say it. */
const NAMING_SHARE = 1 / 3;

/** "Page load" for "it must load within 320 ms". */
function onlyNames(text: string, quote: string): boolean {
  const told = distinctWords(text);
  const words = [...distinctWords(quote)];
  const figuresTold = new Set(figuresIn(text));
  return (
    words.filter((word) => told.has(word)).length < NAMING_SHARE * words.length ||
    (told.size < words.length && figuresIn(quote).some((figure) => !figuresTold.has(figure)))
  );
}

/**
 * What a constraint says: the model's wording where each of its sentences consists of words and figures of one sentence
 * of the user that the quote stands in, or of `earlierText`, and of words that tell whose rule it is; else the quote
 * itself. So no text of a tool becomes a rule behind a quote that says something else, whole or as a further clause,
 * words of several sentences are not put together to one, and never does not become always. A good paraphrase in other
 * words is replaced too.
 */
export function constraintText(
  text: string,
  stated: { quote: string; sources: readonly number[] },
  { evidence, earlierText = '' }: { evidence: TurnEvidence; earlierText?: string },
): string {
  const sayings = stated.sources
    .flatMap((seq) => sayingsOf(evidence.userSentences(seq), stated.quote))
    .map((saying) => `${earlierText}\n${saying}`);
  const isQuoteBetter =
    splitSentences(text).some((sentence) => addsWords(sentence, sayings)) ||
    (earlierText === '' && onlyNames(text, stated.quote));
  return isQuoteBetter ? stated.quote : text;
}
