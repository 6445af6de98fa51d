import type { ChatState, Message } from '#clients/typescript/src/api.ts';

/** What the user said, and the answer to it. */
export interface Turn {
  key: string;
  /** Absent until the service has it. */
  seq: number | undefined;
  user: Message;
  answer?: Message;
  /** The turn that an edit or a regeneration put in its place; Infinity: it is not sent yet. */
  replacedBy?: number;
}

/** Reasons for which a turn is not in the context yet, or is said otherwise. */
const PASSING_REASONS: readonly (string | undefined)[] = ['queued', 'running', 'awaiting_tool'];

/** Whether the model does not know of a turn, and never will. */
export const isLeftOut = ({ user, replacedBy }: Turn): boolean =>
  replacedBy !== undefined ||
  (user.outOfContext !== undefined && !PASSING_REASONS.includes(user.outOfContext.reason));

/** The turns of a transcript, also those that were replaced. */
export function toTurns({ transcript, messages }: Pick<ChatState, 'transcript' | 'messages'>) {
  const turns: Turn[] = [];
  const branch = new Set(messages);
  for (const message of transcript) {
    const { id, seq, role, outOfContext } = message;
    const last = turns.at(-1);
    if (role === 'model') {
      if (last) last.answer = message;
      continue;
    }
    const turn: Turn = { key: seq === undefined ? id : `t_${seq}`, seq, user: message };
    const told = outOfContext?.replacedBy?.slice('t_'.length);
    if (told !== undefined) turn.replacedBy = Number(told);
    else if (!branch.has(message))
      turn.replacedBy =
        messages.find((each) => (each.seq ?? Infinity) > (seq ?? 0))?.seq ?? Infinity;
    turns.push(turn);
  }
  return turns;
}

/** Where a message or its answer stands, until it has ended or waits for the user. */
type Phase = 'sending' | 'unsent' | 'refused' | 'waiting' | 'streaming' | 'reconnecting';

export function phaseOf({ user, answer }: Turn, isCut: boolean): Phase | undefined {
  if (user.state === 'pending') return isCut ? 'unsent' : 'sending';
  if (user.state === 'failed') return 'refused';
  if (answer?.state !== 'queued' && answer?.state !== 'running') return undefined;
  if (isCut) return 'reconnecting';
  return answer.parts.length === 0 ? 'waiting' : 'streaming';
}

/** What is said of a turn that is not as others; `by` is the turn that stands in its place. */
export type TurnRemark =
  | {
      kind: 'deleted' | 'failed' | 'contentFilter' | 'stopped' | 'length' | 'loop' | 'notInContext';
    }
  | { kind: 'replaced'; by: number };

function outcomeOf({ answer }: Turn): TurnRemark[] {
  if (answer?.state === 'failed') return [{ kind: 'failed' }];
  if (answer?.finishReason === 'content-filter') return [{ kind: 'contentFilter' }];
  if (answer?.state === 'stopped') return [{ kind: 'stopped' }];
  if (answer?.stored?.loop !== undefined) return [{ kind: 'loop' }];
  return answer?.finishReason === 'length' ? [{ kind: 'length' }] : [];
}

/** How its answer ended, where that is worth a word, and why the model does not see it. */
export function turnRemarks(turn: Turn): TurnRemark[] {
  const { user, answer, replacedBy } = turn;
  if (user.isDeleted) return [{ kind: 'deleted' }];
  const outcome = outcomeOf(turn);
  if (replacedBy !== undefined) return [...outcome, { kind: 'replaced', by: replacedBy }];
  // A message without an answer is seen by nobody: that is said already.
  return isLeftOut(turn) && answer?.state !== 'failed'
    ? [...outcome, { kind: 'notInContext' }]
    : outcome;
}
