import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { turnSearch } from '../../shared/search/rank-turns.ts';
import type { TurnTexts } from '../../shared/search/turn-texts.ts';

/** Makes a conversation searchable; the search gives turns, the best first. */
export type Ranker = (turns: readonly TurnTexts[]) => (question: string) => number[];

/** Hits that figures are made of. */
const HITS = 10;

/** As the tool recall_history ranks turns. */
export const ownRanker: Ranker = (turns) => (question) => {
  const search = turnSearch(question);
  for (const turn of turns) search.lookInto(turn);
  return search.hits(HITS).map(({ seq }) => seq);
};

interface MiniSearch {
  addAll(documents: readonly { id: number; text: string }[]): void;
  search(query: string): { id: number }[];
}
type MiniSearchClass = new (options: { fields: string[] }) => MiniSearch;

const moduleSchema = z.object({
  default: z.custom<MiniSearchClass>((value) => typeof value === 'function'),
});

const rankerOf =
  (MiniSearchOf: MiniSearchClass): Ranker =>
  (turns) => {
    const index = new MiniSearchOf({ fields: ['text'] });
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
        .map(({ id }) => id);
  };

const isMissing = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/**
 * The library with its defaults: one document a turn, question and answer as one text. Undefined where it is
 * not installed and no path is given. Throws when the path leads nowhere.
 */
export async function libraryRanker(path: string | undefined): Promise<Ranker | undefined> {
  // Not in the text of an import: nothing else needs it.
  const specifier = path === undefined ? 'minisearch' : pathToFileURL(resolve(path)).href;
  try {
    const module: unknown = await import(specifier);
    return rankerOf(moduleSchema.parse(module).default);
  } catch (error) {
    if (path === undefined && isMissing(error)) return undefined;
    throw error;
  }
}
