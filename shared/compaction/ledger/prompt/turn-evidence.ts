import { ownLines, withoutQuotations } from '#shared/compaction/facts/speech/own-words.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import { withoutTakenBack } from '#shared/compaction/facts/speech/taken-back.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { once } from '#shared/once.ts';
import { acceptedIn } from '../operations/accepted-proposals.ts';
import { oneLine } from '#shared/text/one-line.ts';
import { toPassages, type Passages } from './turn-passages.ts';
import { topicWords, distinctUnits, distinctWords } from '#shared/text/words.ts';

/** What one speaker says in a turn. */
export type TurnSaid = Pick<Utterance, 'speaker' | 'text'>;

/** The folded turns as quotes are looked for in them: on one line, each read once. */
export interface TurnEvidence {
  /** The folded turns. */
  seqs: readonly number[];
  has: (seq: number) => boolean;
  /** What the user says himself: without mails, chats and code that he shows, what others said, and what he takes back at once. */
  user: (seq: number) => string;
  /** The same without what his sentences quote. */
  unquoted: (seq: number) => string;
  all: (seq: number) => string;
  /** Of `unquoted`. */
  userSentences: (seq: number) => readonly string[];
  /** Of `unquoted`, and of what the model has proposed and the user accepts in this turn. */
  ownUnits: (seq: number) => ReadonlySet<string>;
  acceptedUnits: (seq: number) => ReadonlySet<string>;
  /** Of what user and model say to each other, calls too, and of all that is said. */
  talkTopics: (seq: number) => ReadonlySet<string>;
  allTopics: (seq: number) => ReadonlySet<string>;
  /** What model and tools say, in order. */
  others: () => OthersTexts;
}

interface OthersTexts {
  passages: Passages;
  /** Whether a text of `passages` is the model's, calls too; else a tool's. */
  isOfModel: (text: number) => boolean;
}

function onceEach<Value>(read: (seq: number) => Value): (seq: number) => Value {
  const known = new Map<number, Value>();
  return (seq) => {
    const value = known.get(seq) ?? read(seq);
    known.set(seq, value);
    return value;
  };
}

const textOf = (said: readonly TurnSaid[], isMeant: (one: TurnSaid) => boolean): string =>
  said
    .filter(isMeant)
    .map(({ text }) => text)
    .join('\n');

function othersIn(said: readonly TurnSaid[]): OthersTexts {
  return {
    passages: toPassages(said.map(({ text }) => text)),
    isOfModel: (text) => said[text]?.speaker !== 'tool',
  };
}

/**
 * Turns that are not in `turns`, which are in order, have said nothing. `recalled`: what tools said before them that a
 * message brought back.
 */
export function toEvidence(
  turns: ReadonlyMap<number, readonly TurnSaid[]>,
  recalled: readonly string[] = [],
): TurnEvidence {
  const saidIn = (seq: number): readonly TurnSaid[] => turns.get(seq) ?? [];
  const seqs = [...turns.keys()];
  const own = onceEach((seq) =>
    withoutTakenBack(ownLines(textOf(saidIn(seq), ({ speaker }) => speaker === 'user'))),
  );
  const user = onceEach((seq) => oneLine(own(seq)));
  const unquoted = onceEach((seq) => oneLine(withoutQuotations(own(seq))));
  const all = onceEach((seq) => oneLine(textOf(saidIn(seq), () => true)));
  const accepted = (seq: number): string =>
    acceptedIn(unquoted(seq), saidIn(seqs[seqs.indexOf(seq) - 1] ?? -1));
  return {
    seqs,
    has: (seq) => turns.has(seq),
    user,
    unquoted,
    all,
    userSentences: onceEach((seq) => splitSentences(withoutQuotations(own(seq))).map(oneLine)),
    ownUnits: onceEach((seq) => distinctUnits(unquoted(seq))),
    acceptedUnits: onceEach((seq) => distinctUnits(accepted(seq))),
    talkTopics: onceEach((seq) =>
      topicWords(distinctWords(textOf(saidIn(seq), ({ speaker }) => speaker !== 'tool'))),
    ),
    allTopics: onceEach((seq) => topicWords(distinctWords(all(seq)))),
    others: once(() => {
      const before = recalled.map((text) => ({ speaker: 'tool' as const, text }));
      const said = [...turns.values()].flat().filter(({ speaker }) => speaker !== 'user');
      return othersIn([...before, ...said]);
    }),
  };
}
