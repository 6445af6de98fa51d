import MiniSearch from 'minisearch';
import { turnSearch } from '#shared/search/rank-turns.ts';
import { withoutPause } from '#shared/steps.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';

/** Makes a conversation searchable; the search gives turns, the best first. */
export type Ranker = (turns: readonly TurnTexts[]) => (question: string) => number[];

/** Hits that figures are made of. */
const HITS = 10;

/** As the tool recall_history ranks turns. */
export const ownRanker: Ranker = (turns) => (question) => {
  const search = turnSearch(question, turns.at(-1)?.messages[0]?.time ?? new Date(0));
  for (const turn of turns) withoutPause(search.lookInto(turn));
  return withoutPause(search.hits(HITS)).map(({ seq }) => seq);
};

/** The library with its defaults: one document a turn, question and answer as one text. */
export const libraryRanker: Ranker = (turns) => {
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(
    turns.map(({ seq, messages }) => ({
      id: seq,
      text: messages.map(({ text }) => text).join('\n'),
    })),
  );
  return (question) =>
    index
      .search(question)
      .slice(0, HITS)
      .map(({ id }) => Number(id));
};
