import { findTurn, type StoredTurn, type TurnPages } from './turn-pages.ts';

/** What is said of a turn that is not as others; `by` is the turn that stands in its place. */
type TurnRemark =
  | {
      kind: 'deleted' | 'failed' | 'contentFilter' | 'stopped' | 'length' | 'loop' | 'notInContext';
    }
  | { kind: 'replaced'; by: number };

const replacesTurn = ({ seq, user }: StoredTurn, replaced: number): boolean =>
  user?.replaces !== undefined && user.replaces <= replaced && replaced < seq;

/** The first turn in memory that stands in for this one after an edit or a regeneration. */
function findReplacement(pages: TurnPages, seq: number): number | undefined {
  const later = [...pages.values()].flat().filter((turn) => replacesTurn(turn, seq));
  return later.length === 0 ? undefined : Math.min(...later.map((turn) => turn.seq));
}

/** With a turn and, where it stands in for others, without these in the context: as the service has them now. */
export function withoutReplaced(pages: TurnPages, seq: number): TurnPages {
  const newer = findTurn(pages, seq);
  if (newer?.user?.replaces === undefined) return pages;
  const after = (turn: StoredTurn): StoredTurn =>
    replacesTurn(newer, turn.seq)
      ? {
          ...turn,
          user: turn.user && { ...turn.user, inContext: false },
          answer: turn.answer && { ...turn.answer, inContext: false },
        }
      : turn;
  return new Map([...pages].map(([page, turns]) => [page, turns.map(after)]));
}

function outcomeOf({ user, answer }: StoredTurn): TurnRemark[] {
  if (user?.state === 'failed') return [{ kind: 'failed' }];
  if (answer?.finishReason === 'content-filter') return [{ kind: 'contentFilter' }];
  if (user?.state === 'cancelled') return [{ kind: 'stopped' }];
  if (answer?.loop !== undefined) return [{ kind: 'loop' }];
  return answer?.finishReason === 'length' ? [{ kind: 'length' }] : [];
}

/** How its answer ended, where that is worth a word, and why the model does not see it. */
export function turnRemarks(turn: StoredTurn, pages: TurnPages): TurnRemark[] {
  const { user, seq } = turn;
  if (user?.deleted) return [{ kind: 'deleted' }];
  const outcome = outcomeOf(turn);
  // One that waits for the app is seen as soon as it goes on.
  if (user?.inContext !== false || user.state === 'awaiting_tool') return outcome;
  const by = findReplacement(pages, seq);
  if (by !== undefined) return [...outcome, { kind: 'replaced', by }];
  // A message without an answer is seen by nobody: that is said already.
  return user.state === 'failed' ? outcome : [...outcome, { kind: 'notInContext' }];
}
