import type { Content } from './content.ts';
import type { Turn } from './turn.ts';

/**
 * What the user said in a turn as a model reads it: behind the surroundings that were told with it. The one function
 * for that; transcripts, searches, titles and summaries read `turn.user` alone.
 */
export const shownUser = ({ user, surroundings }: Pick<Turn, 'user' | 'surroundings'>): Content =>
  surroundings === undefined || user.parts.length === 0
    ? user
    : { ...user, parts: [{ text: surroundings }, ...user.parts] };

const wholeOutputs = (content: Content): Content =>
  content.parts.some(({ condensed }) => condensed !== undefined)
    ? { ...content, parts: content.parts.map(({ condensed: _condensed, ...part }) => part) }
    : content;

/** The turn as who summarises it reads it: with nothing that nobody said, and outputs as the tools gave them. */
export const withoutSurroundings = ({ surroundings: _surroundings, ...turn }: Turn): Turn => ({
  ...turn,
  contents: turn.contents.map(wholeOutputs),
});
