import { contentWords, isNegated } from '../compaction/facts/speech/content-words.ts';
import { indexFacts, type FactIndex } from '../compaction/facts/index/fact-index.ts';
import { ownWords } from '../compaction/facts/speech/own-words.ts';
import { plainText } from '../compaction/facts/speech/plain-text.ts';
import { isQuestion } from '../compaction/facts/speech/utterances.ts';
import { splitSentences } from '../compaction/facts/speech/sentences.ts';
import { withoutTakenBack } from '../compaction/facts/speech/taken-back.ts';
import { unsupportedIn } from '../compaction/facts/index/unsupported.ts';
import { bareStem } from './telling-words.ts';

/** What the user said in a turn. */
export interface SaidTurn {
  seq: number;
  text: string;
  at: Date;
}

/** Whether a note repeats what the user said. */
export type SaidVerdict =
  /** The turns whose words it repeats, in order. */
  | { kind: 'said'; saidIn: number[] }
  /** Words and figures of the note that no turn has. */
  | { kind: 'unsaid'; words: string[] }
  /** All of its words were said, but not of this, or the contrary was. */
  | { kind: 'other' };

/** Longer messages show a text: whose words these are cannot be told. */
const MESSAGE_CHARACTERS_MAX = 4_000;
/** Share of a sentence's words that one sentence of the user must have. */
const SENTENCE_SHARE_MIN = 0.6;

/** Questions that ask to remember what they say. */
const asksToRemember =
  /remember|keep in mind|note (?:that|down)|merk|denk dran|souvien|retiens|retenir|recuerd|lembr|ricord|覚え|記憶|기억|记住|記住/iu;

/** Words with which a note speaks of its user; they claim nothing. */
const frameWords: ReadonlySet<string> = new Set(
  'user users person name named called says said states stated mentioned told their his her him them himself herself'
    .split(' ')
    .flatMap((word) => contentWords(word))
    .map((word) => bareStem(word)),
);
/** What a sentence says: stems of words, and pairs of characters in scripts without spaces. */
const unitsOf = (sentence: string): Set<string> =>
  new Set(
    contentWords(sentence)
      .filter((word) => !isNegated(word))
      .map(bareStem)
      .filter((unit) => !frameWords.has(unit)),
  );

interface SaidSentence {
  seq: number;
  text: string;
  units: ReadonlySet<string>;
  isNegated: boolean;
}

function sentencesOfTurn({ seq, text }: SaidTurn): SaidSentence[] {
  if (text.length > MESSAGE_CHARACTERS_MAX) return [];
  return splitSentences(withoutTakenBack(ownWords(text)))
    .filter((sentence) => !isQuestion(sentence) || asksToRemember.test(sentence))
    .map((sentence) => ({
      seq,
      text: sentence,
      units: unitsOf(sentence),
      isNegated: isNegated(plainText(sentence)),
    }));
}

/** Figures may be written otherwise; whether they were said is asked for all of them. */
function shareSaid(units: ReadonlySet<string>, { units: said }: SaidSentence): number {
  const words = [...units].filter((unit) => !/\p{Nd}/u.test(unit));
  const compared = words.length > 0 ? words : [...units];
  return compared.filter((unit) => said.has(unit)).length / Math.max(1, compared.length);
}

const content = /[\p{sc=Han}\p{sc=Katakana}]/gu;
const hangul = /[\p{sc=Hangul}]+/gu;
/** Korean words that only say that something is, in whatever form. */
const koreanBeing = /^(?:있|하|되|입)/u;
const wordOfLetters = /^[\p{L}\p{M}]/u;
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;

/** What of a note nobody may add: words, numbers, signs that carry the meaning, beginnings of Korean words. */
function unsaidIn(note: string, sentences: readonly SaidSentence[], index: FactIndex): string[] {
  const said = new Set(sentences.flatMap(({ units }) => [...units]));
  const text = sentences.map((sentence) => plainText(sentence.text)).join('\n');
  const plain = plainText(note);
  const words = [...unitsOf(note)].filter((unit) => {
    if (said.has(unit) || unspaced.test(unit)) return false;
    return wordOfLetters.test(unit) || (/^\p{Nd}+$/u.test(unit) && !index.figures.has(unit));
  });
  const signs = [...plain.matchAll(content)].map(([sign]) => sign);
  const korean = [...plain.matchAll(hangul)].map(([word]) => Array.from(word).slice(0, 2).join(''));
  const beginnings = korean.filter(
    (beginning) => Array.from(beginning).length === 2 && !koreanBeing.test(beginning),
  );
  return [
    ...unsupportedIn(note, index),
    ...words,
    ...[...signs, ...beginnings].filter((piece) => !text.includes(piece)),
  ];
}

/** The newest sentence of the user that says most of a sentence, and neither denies nor asserts it alone. */
const supportFor = (sentence: string, said: readonly SaidSentence[]): SaidSentence | undefined => {
  const units = unitsOf(sentence);
  const negated = isNegated(plainText(sentence));
  const alike = said.filter((each) => shareSaid(units, each) >= SENTENCE_SHARE_MIN);
  return alike.findLast((each) => each.isNegated === negated);
};

/** The newest turns that say what the supporting sentences do not. */
function turnsBeside(
  note: string,
  support: readonly SaidSentence[],
  said: readonly SaidSentence[],
): number[] {
  const held = new Set(support.flatMap(({ units }) => [...units]));
  const missing = [...unitsOf(note)].filter((unit) => !held.has(unit));
  return missing.flatMap((unit) => said.findLast(({ units }) => units.has(unit))?.seq ?? []);
}

/**
 * Whether a note says nothing but what the user stated in these turns (the oldest first), in his own words: no
 * words, figures and names of a tool, of the model, or of texts that he quotes or pastes; no question, and
 * nothing that he took back at once or denied. Endings of words and the words for himself may differ; most of
 * each sentence must stand in one sentence of his. A heuristic that refuses rather than believes: a paraphrase in other words, or in
 * another language, is not recognised.
 */
export function saidByUser(note: string, turns: readonly SaidTurn[]): SaidVerdict {
  const said = turns.flatMap(sentencesOfTurn);
  const saidAt = turns.map(({ at }) => at);
  const index = indexFacts(
    said.map(({ text }) => text),
    saidAt,
  );
  const words = unsaidIn(note, said, index);
  if (words.length > 0) return { kind: 'unsaid', words: [...new Set(words)] };
  const sentences = splitSentences(note).filter((sentence) => unitsOf(sentence).size > 0);
  const support = sentences.flatMap((sentence) => supportFor(sentence, said) ?? []);
  if (sentences.length === 0 || support.length < sentences.length) return { kind: 'other' };
  const seqs = [...support.map(({ seq }) => seq), ...turnsBeside(note, support, said)];
  return { kind: 'said', saidIn: [...new Set(seqs)].toSorted((one, other) => one - other) };
}
