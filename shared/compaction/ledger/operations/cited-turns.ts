import { answerTime, userTime } from '#shared/client-context/local-time.ts';
import { hasMedia, stringsIn } from '#shared/conversation/repair/content-strings.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { once } from '#shared/once.ts';
import { indexFacts, type FactIndex } from '#shared/compaction/facts/index/fact-index.ts';
import {
  toPhrases,
  holdsPhrase,
  type Phrases,
} from '#shared/compaction/facts/languages/phrases.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import { type Speaker, type Utterance, readUtterances } from '#shared/conversation/utterances.ts';
import { toDayKey } from '#shared/compaction/facts/values/calendar-day.ts';
import { callText } from '../prompt/ledger-input.ts';
import { topicWords, distinctWords } from '#shared/text/words.ts';
import { textKey } from '#shared/text/one-line.ts';

/** A figure at the edge may go on: `pays 5` is no quote of `pays 5.50`. */
const figureAtEdge = /^\d|\d$/;

/** Whether a statement stands in texts as it is, but for case, width, blanks and its final punctuation. */
function standsIn(phrases: Phrases, statement: string): boolean {
  const key = textKey(statement);
  return key !== '' && !figureAtEdge.test(key) && holdsPhrase(phrases, key);
}

/** One sentence of a turn that could stand in for what the model wrote. */
export interface SaidSentence {
  seq: number;
  speaker: Speaker;
  text: string;
  words: ReadonlySet<string>;
  /** The beginnings of those that say something. */
  topics: ReadonlySet<string>;
}

/** A text as facts and figures are looked for in it. */
interface SaidText {
  index: () => FactIndex;
  /** Whether these words stand in it as they are, also as the summariser reads calls. */
  says: (text: string) => boolean;
}

/** What an item that cites a turn is checked against; every part is made when it is first asked for. */
export interface CitedTurn {
  seq: number;
  /** Whether it holds more than text: a picture may say what no text says. */
  holdsMedia: boolean;
  userText: () => string;
  /** Everything that was said in it as one text. */
  allText: () => string;
  /** Everything that was said in it, tool outputs in full. */
  all: SaidText;
  /** What the user wrote. */
  user: SaidText;
  /** By the user's clock. */
  saidAt: Date;
  /** In order, calls as the summariser reads them. */
  sentences: () => readonly SaidSentence[];
  /** Whether there are more of them. */
  isCut: () => boolean;
}

/** Sentences of one turn that are compared: enough for any conversation, a bound for logs. */
const SENTENCES_MAX = 2_000;
/** A longer call is a text that was written: it is read in pieces. */
const CALL_CHARACTERS = 1_000;

/** All that was said in a turn as one text, calls and outputs in full. Thoughts are not read by the summariser. */
function wholeText(turn: Turn): string {
  const spoken = readUtterances([turn]).filter(
    ({ speaker }) => speaker === 'user' || speaker === 'model',
  );
  const calls = turn.contents.map((content) => ({
    ...content,
    parts: content.parts.filter((part) => part.text === undefined),
  }));
  const hasCalls = calls.some(({ parts }) => parts.length > 0);
  return [...spoken.map(({ text }) => text), ...(hasCalls ? stringsIn(calls) : [])].join('\n');
}

function piecesOf({ speaker, text }: Utterance): string[] {
  if (speaker !== 'call') return splitSentences(text);
  const call = callText(text);
  return call.length <= CALL_CHARACTERS ? [call] : splitSentences(call);
}

function sentencesIn(turn: Turn): SaidSentence[] {
  return readUtterances([turn])
    .flatMap((said) => piecesOf(said).map((text) => ({ speaker: said.speaker, text })))
    .slice(0, SENTENCES_MAX)
    .map(({ speaker, text }) => {
      const words = distinctWords(text);
      return { seq: turn.seq, speaker, text, words, topics: topicWords(words) };
    });
}

/** `calls` are read for words alone: what they say stands in the text already. */
function saidText(
  text: () => string,
  turn: Turn,
  calls: () => readonly string[] = () => [],
): SaidText {
  // Words are looked for more often than figures, and found much faster.
  const phrases = once(() => toPhrases([text()]));
  const index = once((): FactIndex => ({
    ...indexFacts([text()], [userTime(turn), answerTime(turn)]),
    phrases,
  }));
  const callPhrases = once(() => toPhrases(calls()));
  return {
    index,
    says: (statement) => standsIn(phrases(), statement) || standsIn(callPhrases(), statement),
  };
}

/** The calls of a turn as the summariser reads them. */
const callsIn = (turn: Turn): string[] =>
  readUtterances([turn]).flatMap(({ speaker, text }) =>
    speaker === 'call' ? [callText(text)] : [],
  );

function citedTurn(turn: Turn): CitedTurn {
  const userText = once(() =>
    readUtterances([turn])
      .filter(({ speaker }) => speaker === 'user')
      .map(({ text }) => text)
      .join('\n'),
  );
  const allText = once(() => wholeText(turn));
  const sentences = once(() => sentencesIn(turn));
  return {
    seq: turn.seq,
    get holdsMedia() {
      return [turn.user, ...turn.contents].some(hasMedia);
    },
    userText,
    allText,
    all: saidText(allText, turn, () => callsIn(turn)),
    user: saidText(userText, turn),
    saidAt: userTime(turn),
    sentences,
    isCut: () => sentences().length === SENTENCES_MAX,
  };
}

/** The folded turns by seq. Nothing of a turn is read before an item cites it, and then once. */
export interface CitedTurns {
  get: (seq: number) => CitedTurn | undefined;
  values: () => Iterable<CitedTurn>;
  /** The day on which a turn was said, `2026-11-21`. */
  dayOf: (seq: number) => string | undefined;
}

export function citedTurns(turns: readonly Turn[]): CitedTurns {
  const days = new Map(turns.map((turn) => [turn.seq, toDayKey(userTime(turn))]));
  const bySeq = new Map(turns.map((turn) => [turn.seq, once(() => citedTurn(turn))]));
  return {
    get: (seq) => bySeq.get(seq)?.(),
    *values() {
      for (const read of bySeq.values()) yield read();
    },
    dayOf: (seq) => days.get(seq),
  };
}
