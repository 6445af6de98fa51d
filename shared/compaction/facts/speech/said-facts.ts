import { findAnswer } from '../values/answers.ts';
import { constraintSpans } from './detect-constraints.ts';
import { findEasternNames } from '../languages/eastern-names.ts';
import type { FactKind, FactTier } from '../index/fact.ts';
import { baseWeight } from '../index/fact-weights.ts';
import type { FactMatch } from '../index/fact-match.ts';
import { endsInState, findNames } from '../values/names.ts';
import { shownSpans } from './own-words.ts';
import { foldWidth, plainText } from '#shared/text/plain-text.ts';
import { type TextSpan, findQuotes } from './quoted-speech.ts';
import { requestSpans } from '../languages/requests.ts';
import {
  noPlaces,
  scanReferences,
  scanValues,
  takeFree,
  type Places,
} from '../index/fact-finders.ts';
import { sentenceSpans, type SentenceSpan } from '#shared/text/sentences.ts';
import { takenBackSpans } from './taken-back.ts';
import {
  findStatedValues,
  isEastern,
  type StatedValues,
  findWantedThings,
} from './stated-values.ts';
import { once } from '#shared/once.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';

/** A fact where an utterance says it. */
export interface SaidFact extends FactMatch {
  tier: FactTier;
  text: string;
  sentence: string;
  /** In words of somebody else that the user shows. */
  isShown?: boolean;
}

/** Facts of one utterance: those of most weight when there are more. */
const UTTERANCE_FACTS = 400;
/** Longer tool output is searched for references alone. */
const TOOL_CHARACTERS = 2_000;
/** Beyond it a user shows a text: its names and bare numbers are not what the user says. */
const SHOWN_CHARACTERS = 4_000;

/** Of a shown text these are its own, not the user's. */
const shownKinds: ReadonlySet<FactKind> = new Set(['number', 'quantity', 'path']);

/** What the utterances around one tell about it. */
export interface Surroundings {
  values: StatedValues;
  /** Whether the model asked something right before. */
  isAnswer: boolean;
}

type TieredMatch = FactMatch & { tier: FactTier };

const withTier = (found: readonly FactMatch[], tier: FactTier): TieredMatch[] =>
  found.map((one) => ({ ...one, tier: one.isWeak === true ? worse(tier) : tier }));

const worse = (tier: FactTier): FactTier => (tier === 1 ? 2 : tier);

/** Names: tier 1 where their place or another speaker makes them values. */
function namesOfUser(
  text: string,
  places: Places,
  { stated, isAnswer }: { stated: readonly FactMatch[]; isAnswer: boolean },
) {
  const tier: FactTier = text.length > SHOWN_CHARACTERS ? 2 : 1;
  const names = findNames(text);
  // Vancouver, BC is more than the Vancouver of a call.
  const withState = names.filter(({ start, end }) => endsInState.test(text.slice(start, end)));
  return [
    ...withTier(takeFree(withState, places), tier),
    ...withTier(takeFree(stated, places), tier),
    ...withTier(takeFree(isAnswer ? findAnswer(text) : [], places), tier),
    ...takeFree(names, places).map((name) => ({
      ...name,
      tier: name.isValue ? tier : (2 as const),
    })),
    ...withTier(takeFree(findEasternNames(text), places), tier),
    ...withTier(takeFree(findWantedThings(text), places), tier),
  ];
}

/** Standing wishes; what is asked for once matters less. */
function instructionsOf(text: string, sentences: readonly SentenceSpan[]): TieredMatch[] {
  const standing = constraintSpans(text, sentences);
  const starts = new Set(standing.map(({ start }) => start));
  const requests = requestSpans(text, sentences).filter(({ start }) => !starts.has(start));
  const found = (tier: FactTier) => (span: { start: number; end: number }) => ({
    kind: 'instruction' as const,
    start: span.start,
    end: span.end,
    readings: [plainText(text.slice(span.start, span.end)).trim()],
    tier,
  });
  return [...standing.map(found(1)), ...requests.map(found(2))];
}

function foundByUser(
  { text, at, sentences }: ReadText,
  { values: known, isAnswer }: Surroundings,
): TieredMatch[] {
  const places = noPlaces();
  const stated = findStatedValues(text, known);
  // Names that begin with a number must be taken before the number is.
  const eastern = stated.filter(({ readings }) => readings.some(isEastern));
  const named = withTier(takeFree(eastern, places), 1);
  const values = scanValues(text, { at, places });
  const isLong = text.length > SHOWN_CHARACTERS;
  return [
    ...named,
    ...withTier(
      values.map((one) => (isLong && shownKinds.has(one.kind) ? { ...one, isWeak: true } : one)),
      1,
    ),
    ...namesOfUser(text, places, { stated, isAnswer }),
    ...withTier(findQuotes(text), 2),
    ...instructionsOf(text, sentences()),
  ];
}

function foundByModel(text: string, at: Date) {
  const places = noPlaces();
  return [
    ...scanValues(text, { at, places }),
    ...takeFree(findNames(text), places),
    ...takeFree(findEasternNames(text), places).filter((one) => one.kind === 'name'),
    ...findQuotes(text),
  ];
}

/** A folded text, when it was said and where its sentences stand. */
interface ReadText {
  text: string;
  at: Date;
  sentences: () => readonly SentenceSpan[];
}

function foundInTalk(
  speaker: 'user' | 'model',
  read: ReadText,
  surroundings: Surroundings,
): TieredMatch[] {
  const { text, at } = read;
  return speaker === 'user' ? foundByUser(read, surroundings) : withTier(foundByModel(text, at), 2);
}

/** What a call or a tool says is of one tier, whatever it is. */
const besidesTier = { call: 2, tool: 3 } as const;

/** Notes what was said before; false: it is new, or counts more than before. */
type NoteAgain = (found: FactMatch, tier: FactTier) => boolean;

/** What a call or a tool says that `noteAgain` does not take: most is said again, and is not looked at any further. */
function newBesides(
  speaker: 'call' | 'tool',
  { text, at }: ReadText,
  noteAgain: NoteAgain,
): TieredMatch[] {
  const isLong = speaker === 'tool' && text.length > TOOL_CHARACTERS;
  const found = heaviest(isLong ? scanReferences(text) : scanValues(text, { at }));
  const tier = besidesTier[speaker];
  return found.filter((one) => !noteAgain(one, tier)).map((one) => ({ ...one, tier }));
}

/** Facts in the order of their places, each with the sentence that holds it. */
function withSentences(
  found: readonly TieredMatch[],
  text: string,
  spans: readonly SentenceSpan[],
): SaidFact[] {
  let at = 0;
  // Facts of one sentence share it: it is looked up by its words again and again.
  let last = { start: 0, end: 0, sentence: '' };
  return found.flatMap((one) => {
    while (at + 1 < spans.length && (spans[at]?.end ?? 0) <= one.start) at += 1;
    const span = spans[at];
    if (span === undefined) return [];
    // A fact may go over the end of a piece: a long link, a date behind a point.
    const start = Math.min(span.start, one.start);
    const end = Math.max(span.end, one.end);
    if (start !== last.start || end !== last.end)
      last = { start, end, sentence: text.slice(start, end) };
    return {
      ...one,
      tier: span.isShown ? worse(one.tier) : one.tier,
      text: text.slice(one.start, one.end),
      sentence: last.sentence,
    };
  });
}

/** Marks what stands in the words of others. Linear: facts and spans are in order. */
function withShown(facts: readonly SaidFact[], others: readonly TextSpan[]): SaidFact[] {
  let at = 0;
  return facts.map((fact) => {
    while ((others[at]?.end ?? Infinity) <= fact.start) at += 1;
    const isShown = (others[at]?.start ?? Infinity) <= fact.start;
    return isShown ? { ...fact, isShown } : fact;
  });
}

function heaviest<F extends FactMatch & { tier?: FactTier }>(found: readonly F[]): F[] {
  const ordered = found.toSorted((a, b) => a.start - b.start || a.end - b.end);
  if (ordered.length <= UTTERANCE_FACTS) return ordered;
  const rank = (one: F): number => baseWeight(one.kind) - 10 * (one.tier ?? 0);
  const kept = new Set(ordered.toSorted((a, b) => rank(b) - rank(a)).slice(0, UTTERANCE_FACTS));
  return ordered.filter((one) => kept.has(one));
}

/** An utterance as its facts are looked for, and the sentences of what was written. */
function readingOf({ text: written, at }: Pick<Utterance, 'text' | 'at'>) {
  const text = written.toWellFormed();
  const folded = foldWidth(text);
  const sentences = once(() => sentenceSpans(text));
  // Plain texts fold to themselves: their sentences are the same.
  const foldedSentences = folded === text ? sentences : () => sentenceSpans(folded);
  const read: ReadText = { text: folded, at, sentences: foldedSentences };
  return { text, sentences, read };
}

/** Those that the text does not take back at once. */
function withoutTakenBack<F extends Pick<FactMatch, 'start'>>(
  found: readonly F[],
  { text, sentences }: { text: string; sentences: () => readonly SentenceSpan[] },
): F[] {
  const takenBack = takenBackSpans(text, sentences());
  return found.filter(
    (fact) => !takenBack.some(({ start, end }) => start <= fact.start && fact.start < end),
  );
}

/**
 * The facts of one utterance, at most 400, in order; none of what its user takes back at once. What a call or a tool
 * says is mostly said again: of it only what `noteAgain` has not taken is given, and has its sentence looked for.
 */
export function saidFacts(
  utterance: Utterance,
  surroundings: Surroundings,
  noteAgain: NoteAgain = () => false,
): SaidFact[] {
  const { speaker } = utterance;
  const reading = readingOf(utterance);
  const { text, sentences, read } = reading;
  const found =
    speaker === 'call' || speaker === 'tool'
      ? newBesides(speaker, read, noteAgain)
      : heaviest(foundInTalk(speaker, read, surroundings));
  if (found.length === 0) return [];
  const said = withSentences(found, text, sentences());
  if (speaker !== 'user') return said;
  return withShown(withoutTakenBack(said, reading), shownSpans(text));
}
