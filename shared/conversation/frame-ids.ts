/**
 * Frame ids that one attempt at a turn may use. A new attempt begins with the next range, above everything
 * an earlier one may have sent, stored or not: one frame each 40 ms fills a range in eleven hours, the
 * longest answer takes one.
 */
export const FRAME_IDS_PER_ATTEMPT = 1_000_000;

/** Id of the first frame of an attempt (from 1). */
export const firstFrameId = (attempt: number) => (attempt - 1) * FRAME_IDS_PER_ATTEMPT;

/** The highest id that an attempt may use. */
export const highestFrameId = (attempt: number) => firstFrameId(attempt + 1) - 1;

/**
 * Where a reader's cursor stands: in the ids of this attempt; before them, or there is none (`before`: the
 * reader has nothing of this attempt yet); or in those of an attempt that has not been (`beyond`).
 */
export function cursorPlace(
  cursor: number | undefined,
  attempt: number,
): 'before' | 'within' | 'beyond' {
  if (cursor === undefined || cursor < firstFrameId(attempt)) return 'before';
  return cursor <= highestFrameId(attempt) ? 'within' : 'beyond';
}

/**
 * The id of an attempt's text part before, between or after rounds of tool calls (`round` of them are
 * behind it). Attempts have parts of their own, so that a reader can drop what an abandoned one said.
 */
export const textPartId = (attempt: number, round = 0) =>
  attempt === 1 ? `p${round}` : `a${attempt}-p${round}`;

/** The text parts that an attempt may have shown that came as far as `rounds` rounds. */
export const partIds = (attempt: number, rounds: number) =>
  Array.from({ length: rounds + 1 }, (_, round) => textPartId(attempt, round));

/** Parts that attempts before this one may have shown. */
export const earlierPartIds = (attempt: number, rounds = 0) =>
  Array.from({ length: attempt - 1 }, (_, i) => partIds(i + 1, rounds)).flat();

/**
 * Event ids of one turn in the stream of its conversation, where a cursor has to name the turn as well: those of ten
 * attempts. An eleventh has the ids of the first again: a reader that comes back with one of them gets all of it.
 */
const CONVERSATION_IDS_PER_TURN = 10_000_000;

/** Id of frame `id` of turn `seq` in the stream of the conversation. */
export const conversationFrameId = (seq: number, id: number) =>
  seq * CONVERSATION_IDS_PER_TURN + (id % CONVERSATION_IDS_PER_TURN);

/** Which frame a cursor names: one of the turn `seq`, or, without a turn, one of whatever turn is read. */
export function placeOfCursor(cursor: number | undefined): {
  seq: number | undefined;
  id: number | undefined;
} {
  if (cursor === undefined || cursor < CONVERSATION_IDS_PER_TURN)
    return { seq: undefined, id: cursor };
  return {
    seq: Math.floor(cursor / CONVERSATION_IDS_PER_TURN),
    id: cursor % CONVERSATION_IDS_PER_TURN,
  };
}
