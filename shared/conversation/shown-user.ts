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

/** The turn as who summarises it reads it: with nothing that nobody said. */
export const withoutSurroundings = ({ surroundings: _surroundings, ...turn }: Turn): Turn => turn;
