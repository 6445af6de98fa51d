import type { Content } from '../documents/content.ts';
import type { Turn } from '../documents/turn.ts';

/**
 * What the user said in a turn as a model reads it: behind the surroundings that were told with it. The one function
 * for that; transcripts, searches, titles and summaries read `turn.user` alone.
 */
export const shownUser = ({ user, surroundings }: Pick<Turn, 'user' | 'surroundings'>): Content =>
  surroundings === undefined || user.parts.length === 0
    ? user
    : { ...user, parts: [{ text: surroundings }, ...user.parts] };

const isCondensed = ({ parts }: Content) => parts.some(({ condensed }) => condensed !== undefined);

const wholeOutputs = (content: Content): Content =>
  isCondensed(content)
    ? { ...content, parts: content.parts.map(({ condensed: _condensed, ...part }) => part) }
    : content;

/**
 * The turn as who summarises it reads it: with nothing that nobody said, and outputs as the tools gave them. The same
 * object where there is nothing to take away.
 */
export function withoutSurroundings(turn: Turn): Turn {
  if (turn.surroundings === undefined && !turn.contents.some(isCondensed)) return turn;
  const { surroundings: _surroundings, ...said } = turn;
  return { ...said, contents: turn.contents.map(wholeOutputs) };
}
