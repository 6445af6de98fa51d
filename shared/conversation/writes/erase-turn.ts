import type { Conversation, Versioned } from '../documents/conversation.ts';
import { messageGuardPath, turnPath } from '../documents/paths.ts';
import { hasAnswer, isTerminal, type Turn, type TurnDocument } from '../documents/turn.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';

/** Turns that one batch empties, at two writes each; a commit takes 500 writes. */
export const ERASED_MAX = 200;

/** What a deletion found. */
export interface EraseFacts {
  /** The turn of the message that was named. */
  named: Turn;
  /** The message was named as an answer. */
  isAnswer: boolean;
  /** The turns that say what the user says in `named`, it and its regenerations, in order. */
  alike: readonly Turn[];
}

export type EraseDecision =
  /** A turn with that text is being answered, or waits to be. */
  | { kind: 'inProgress'; seq: number }
  /** There is no answer to delete. */
  | { kind: 'notFound' }
  /** Deleted before. */
  | { kind: 'done' }
  /** These turns, newest first; `isLast`: after them nothing is left to erase. */
  | { kind: 'erase'; part: ErasedPart; seqs: readonly number[]; isLast: boolean };

/**
 * What the deletion of a message erases: an answer alone, or what the user said with its answer, in every
 * turn that says it.
 */
export function decideErase({ named, isAnswer, alike }: EraseFacts): EraseDecision {
  const part = isAnswer ? 'answer' : 'turn';
  const turns = isAnswer ? [named] : alike;
  const unfinished = turns.find(({ state }) => !isTerminal(state));
  if (unfinished) return { kind: 'inProgress', seq: unfinished.seq };
  const remaining = turns.filter((turn) => !isErased(turn, part));
  if (remaining.length === 0) return { kind: 'done' };
  if (isAnswer && !hasAnswer(named)) return { kind: 'notFound' };
  const seqs = remaining.map(({ seq }) => seq).toReversed();
  return {
    kind: 'erase',
    part,
    seqs: seqs.slice(0, ERASED_MAX),
    isLast: seqs.length <= ERASED_MAX,
  };
}

/** What of a turn is erased. */
type ErasedPart = 'turn' | 'answer';

const noUser: Turn['user'] = { role: 'user', parts: [] };
const noUserJson = JSON.stringify(noUser);

/** Whether that part of a turn has been erased before. A turn that lost its question has no answer. */
const isErased = (turn: Turn, part: ErasedPart) =>
  turn.eraseTime !== undefined && (part === 'answer' || turn.user.parts.length === 0);

/** Whether a stored turn has lost its question. Without its answer alone it still says what was asked. */
export const isQuestionErased = ({ eraseTime, userJson }: TurnDocument['value']) =>
  eraseTime !== undefined && userJson === noUserJson;

/** The turn as it is left: its place, its state and its bill, and nothing of what was said. */
export const erasedTurn = (
  {
    feedback: _feedback,
    surroundings: _surroundings,
    describedClient: _describedClient,
    grounding: _grounding,
    ...turn
  }: Turn,
  part: ErasedPart,
  now: Date,
): Turn => ({
  ...turn,
  inContext: false,
  tokens: { user: part === 'turn' ? 0 : turn.tokens.user, answer: 0 },
  eraseTime: turn.eraseTime ?? now,
  user: part === 'turn' ? noUser : turn.user,
  contents: [],
});

/**
 * Empties a turn. The guard of its message stays, so that the id never asks the model again; the hash of
 * an erased message goes, because a short text can be guessed from it. Two writes at most.
 */
export function eraseTurnWrites(
  conversationId: string,
  turn: Versioned<Turn>,
  { part, now }: { part: ErasedPart; now: Date },
): Write[] {
  const { seq, messageId } = turn.value;
  const emptied = erasedTurn(turn.value, part, now);
  const fields: DocumentFields = {
    inContext: emptied.inContext,
    tokens: emptied.tokens,
    eraseTime: emptied.eraseTime,
    answerJson: '[]',
    answerPieces: 0,
    ...(part === 'turn' && { userJson: noUserJson, userPieces: 0 }),
  };
  const guard: Write = {
    op: 'update',
    path: messageGuardPath(conversationId, messageId),
    fields: { bodyHash: '' },
    guard: { exists: true },
  };
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields,
      // A comment may quote what was said.
      remove: ['feedback', 'surroundings', 'describedClient', 'grounding', 'answerName'],
      guard: { updateTime: turn.updateTime },
    },
    ...(part === 'turn' ? [guard] : []),
  ];
}

/** The conversation document's note that turns are to be erased everywhere else too, with more turns. */
export const pendingWith = (
  pending: Conversation['pendingErasure'],
  more: {
    seqs: readonly number[];
    items?: NonNullable<NonNullable<Conversation['pendingErasure']>['items']>;
    now: Date;
  },
): NonNullable<Conversation['pendingErasure']> => ({
  since: pending?.since ?? more.now,
  seqs: [...new Set([...(pending?.seqs ?? []), ...more.seqs])],
  items: [...(pending?.items ?? []), ...(more.items ?? [])],
});
