/** A turn that stands in the transcript, and what the user says in it. */
interface SaidTurn {
  seq: number;
  text: string;
}

/** Messages of the user that are compared: a few tell the place, unless a user says the same over and over. */
const COMPARED = 3;

/**
 * The turn in whose place a new message is said; undefined: it comes after all. `before`: what the user says in the
 * messages that the client sends in front of it. `turns`: those that stand, in order. The newest place where both
 * agree counts: what the server has behind it, the client has taken away. A history that the server does not know
 * tells no place. `isWhole`: the client says that it sends all there is, so that nothing in front is the very beginning.
 */
export function findHistoryPlace(history: {
  before: readonly string[];
  turns: readonly SaidTurn[];
  isWhole: boolean;
}): number | undefined {
  const { before, turns, isWhole } = history;
  if (before.length === 0) return isWhole ? turns[0]?.seq : undefined;
  const compared = before.slice(-COMPARED);
  const agrees = (end: number) =>
    compared.toReversed().every((text, back) => {
      const turn = turns[end - back];
      // What is further back may be folded, or not be sent.
      return turn === undefined || turn.text === text;
    });
  const place = turns.findLastIndex((_, end) => agrees(end));
  return place === -1 ? undefined : turns[place + 1]?.seq;
}
