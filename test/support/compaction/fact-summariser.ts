import { contentText } from '#shared/models/content.ts';
import type { SummaryFunction } from '#functions/recap-compaction.ts';

/** A summariser that notes every fact (`Locker 12 opens with QX-4812.`) of the turns that it is shown, and their words. */
export const notingFacts: SummaryFunction = ({ contents }) => {
  const said = [
    ...contents
      .map(contentText)
      .join('\n')
      .matchAll(/^\[(\d+)\] user: (.*)$/gm),
  ];
  const facts = said.flatMap(([, seq, text = '']) =>
    [...text.matchAll(/Locker (\d+) opens with ([A-Z]{2}-\d+)/g)].map(([, number, code]) => ({
      text: `locker ${number}: ${code}`,
      sources: [Number(seq)],
    })),
  );
  const seqs = said.map(([, seq]) => Number(seq));
  return {
    text: JSON.stringify({
      operations: [{ op: 'add', section: 'key_knowledge', items: facts }],
      topics: [{ title: 'lockers', from: seqs[0], through: seqs.at(-1) }],
    }),
    usage: { promptTokens: 100, outputTokens: 10 },
  };
};

/** The code of a locker, another one for each. */
export const lockerCode = (turn: number): string => `QX-${1_000 + 37 * turn}`;

/** What the user says in a turn, and what is answered: about 300 tokens, with a fact in every tenth turn. */
export const lockerTurn = (turn: number): { user: string; answer: string } => {
  const chat = Array.from({ length: 18 }, (_, at) => `step${turn}x${at} is done as asked`);
  const fact = turn % 10 === 1 ? ` Locker ${turn} opens with ${lockerCode(turn)}.` : '';
  return {
    user: `Turn ${turn}: how does it go on?${fact}`,
    answer: `About turn ${turn}: ${chat.join(', ')}.`,
  };
};
