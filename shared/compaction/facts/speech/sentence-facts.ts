import { factId } from '../index/fact.ts';
import { keyOfReadings } from '../index/fact-index.ts';
import { isCertain } from '../index/fact-match.ts';
import type { SaidFact } from './said-facts.ts';
import type { Speaker, Utterance } from '#shared/conversation/utterances.ts';

/** A sentence of a turn, or some words of it. */
interface SentencePlace {
  seq: number;
  speaker: Speaker;
  sentence: string;
}

/** What the sentences of a conversation say, as it was found where they stand. */
export interface SentenceFacts {
  note(utterance: Utterance, said: readonly SaidFact[]): void;
  /**
   * The facts, by `factId`, that a sentence says, or some words of it; undefined where nothing was found in it.
   * Constant time in the length of the conversation.
   */
  idsIn(place: SentencePlace, words: string): string[] | undefined;
}

const idOf = ({ kind, readings }: SaidFact): string =>
  factId({ kind, key: keyOfReadings(readings) });

/** Collects what user and model say; what calls and tools say is told by no sentence. */
export function collectSentenceFacts(): SentenceFacts {
  const said = {
    user: new Map<number, SaidFact[]>(),
    model: new Map<number, SaidFact[]>(),
  };
  const bySentence = new Map<SaidFact[], Map<string, SaidFact[]>>();
  const sentencesOf = (facts: SaidFact[]) => {
    const known = bySentence.get(facts) ?? Map.groupBy(facts, ({ sentence }) => sentence);
    bySentence.set(facts, known);
    return known;
  };
  return {
    note: ({ seq, speaker }, facts) => {
      if (facts.length === 0 || speaker === 'call' || speaker === 'tool') return;
      const known = said[speaker].get(seq);
      if (known === undefined) said[speaker].set(seq, [...facts]);
      else for (const fact of facts) known.push(fact);
    },
    idsIn: ({ seq, speaker, sentence }, words) => {
      if (speaker === 'call' || speaker === 'tool') return undefined;
      const facts = said[speaker].get(seq);
      const found = facts && sentencesOf(facts).get(sentence);
      const isWhole = words.length === sentence.length;
      return found
        ?.filter((fact) => isCertain(fact) && (isWhole || words.includes(fact.text)))
        .map(idOf);
    },
  };
}
