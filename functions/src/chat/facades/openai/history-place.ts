/** A turn that stands in the transcript, and what the user says in it. */
interface SaidTurn {
  seq: number;
  text: string;
}

/** Where a new message is said, as far as the messages in front of it tell. */
type HistoryPlace =
  /** None of the turns is known to end that history. */
  | { kind: 'unknown' }
  /** After all that the server has. */
  | { kind: 'end' }
  /** In the place of this turn and of all that follow. */
  | { kind: 'edit'; seq: number };

const placeBefore = (turn: SaidTurn | undefined): HistoryPlace =>
  turn ? { kind: 'edit', seq: turn.seq } : { kind: 'end' };

/** Messages of the user that are compared: a few tell the place, unless a user says the same over and over. */
const COMPARED = 3;

/**
 * Where a new message is said. `before`: what the user says in the messages that the client sends in front of it.
 * `turns`: those that stand, in order. The newest place where both agree counts: what the server has behind it, the
 * client has taken away. `isWhole`: the client says that it sends all there is, so that nothing in front is the very
 * beginning.
 */
export function findHistoryPlace(history: {
  before: readonly string[];
  turns: readonly SaidTurn[];
  isWhole: boolean;
}): HistoryPlace {
  const { before, turns, isWhole } = history;
  if (before.length === 0) return isWhole ? placeBefore(turns[0]) : { kind: 'unknown' };
  const compared = before.slice(-COMPARED);
  const agrees = (end: number) =>
    compared.toReversed().every((text, back) => {
      const turn = turns[end - back];
      // What is further back may be folded, or not be sent.
      return turn === undefined || turn.text === text;
    });
  const place = turns.findLastIndex((_, end) => agrees(end));
  return place === -1 ? { kind: 'unknown' } : placeBefore(turns[place + 1]);
}
