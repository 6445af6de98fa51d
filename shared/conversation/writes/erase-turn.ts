import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { Conversation, Versioned } from '../documents/conversation.ts';
import { messageGuardPath, turnPath } from '../documents/paths.ts';
import type { Turn, TurnDocument } from '../documents/turn.ts';

/** What of a turn is erased. */
export type ErasedPart = 'turn' | 'answer';

const noUser: Turn['user'] = { role: 'user', parts: [] };
const noUserJson = JSON.stringify(noUser);

/** Whether that part of a turn has been erased before. A turn that lost its question has no answer. */
export const isErased = (turn: Turn, part: ErasedPart) =>
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
  const left = erasedTurn(turn.value, part, now);
  const fields: DocumentFields = {
    inContext: left.inContext,
    tokens: left.tokens,
    eraseTime: left.eraseTime,
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
    blobs: readonly string[];
    items?: NonNullable<NonNullable<Conversation['pendingErasure']>['items']>;
    now: Date;
  },
): NonNullable<Conversation['pendingErasure']> => ({
  since: pending?.since ?? more.now,
  seqs: [...new Set([...(pending?.seqs ?? []), ...more.seqs])],
  blobs: [...new Set([...(pending?.blobs ?? []), ...more.blobs])],
  items: [...(pending?.items ?? []), ...(more.items ?? [])],
});
