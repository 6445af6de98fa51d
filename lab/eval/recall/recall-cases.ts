import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import { scriptOf, type Exchange, type Recording } from '../replay/recording.ts';

/** A question, and the turns that hold the evidence of its answer. */
interface RecallProbe {
  id: string;
  question: string;
  evidence: readonly number[];
}

/** A conversation as a search sees it, and what is looked up in it. */
export interface RecallCase {
  id: string;
  turns: TurnTexts[];
  probes: RecallProbe[];
}

const maxPartBytes = 900_000;

function textsOf({ userTexts, answerTexts }: Exchange, index: number): TurnTexts {
  const seq = index + 1;
  const messages = [
    { id: `u_${seq}`, role: 'user' as const, text: userTexts.join('\n'), time: new Date(0) },
    { id: `m_${seq}`, role: 'model' as const, text: answerTexts.join('\n'), time: new Date(0) },
  ];
  return {
    seq,
    inContext: true,
    isReplaced: false,
    messages: messages.filter(({ text }) => text !== ''),
    tools: '',
  };
}

const tokensOf = ({ messages }: TurnTexts) =>
  messages.reduce(
    (sum, { role, text }) =>
      sum + estimateContentTokens({ role, parts: [{ text }] }, 'character-class'),
    0,
  );

/** The last turn before a tail of about that size; 0 where all is tail. */
function lastBeforeTail(turns: readonly TurnTexts[], tailTokens: number): number {
  let left = tailTokens;
  let last = turns.length;
  for (const turn of turns.toReversed()) {
    if (left <= 0) return last;
    left -= tokensOf(turn);
    last = turn.seq - 1;
  }
  return last;
}

/** Which turn (from 1) each content of the recording went into. */
const turnsOfContents = (exchanges: readonly Exchange[]): Map<number, number> =>
  new Map(
    exchanges.flatMap(({ recordedIndexes }, index) =>
      recordedIndexes.map((recordedIndex) => [recordedIndex, index + 1] as const),
    ),
  );

/**
 * The turns of a recording, and its probes whose evidence lies wholly before the tail. Those without an answer are left
 * out, and `adversarial` ones, which ask for what was never said.
 */
export function recallCaseOf(recording: Recording, tailTokens: number): RecallCase {
  const { exchanges } = scriptOf(recording, { maxPartBytes });
  const turns = exchanges.map(textsOf);
  const foldedThrough = lastBeforeTail(turns, tailTokens);
  const seqs = turnsOfContents(exchanges);
  const probes = (recording.probes ?? []).flatMap(
    ({ id, question, answer, category, evidenceTurnIndexes }) => {
      if (answer === undefined || answer === null || category === 'adversarial') return [];
      const evidence = (evidenceTurnIndexes ?? []).map((index) => seqs.get(index) ?? Infinity);
      if (evidence.length === 0 || evidence.some((seq) => seq > foldedThrough)) return [];
      return [{ id, question, evidence: [...new Set(evidence)] }];
    },
  );
  return { id: recording.id, turns, probes };
}
