import type { Write } from '#shared/ports/ports.ts';
import { conversationPath, messageGuardPath } from '../documents/paths.ts';
import { finishWrites, newTurnWrites, type FinishBatch, type NewTurn } from './turn-writes.ts';

/** A turn that was answered elsewhere. */
interface EndedTurn {
  begun: NewTurn;
  ended: Pick<
    FinishBatch,
    'state' | 'contents' | 'answerTokens' | 'inContext' | 'finishReason' | 'error' | 'now'
  >;
}

/**
 * The documents that a turn leaves when it has begun and ended: itself, the guard of its message, and overflow pieces.
 * The writes of the conversation document are the caller's.
 */
export function endedTurnWrites({ begun, ended }: EndedTurn): Write[] {
  const { conversationId, seq, messageId, bodyHash, userTokens } = begun;
  const [start, ...userPieces] = newTurnWrites(begun, 'running');
  const [end, ...others] = finishWrites({
    ...ended,
    conversationId,
    seq,
    userTokens,
    attempt: 1,
    turnUpdateTime: '',
  });
  if (start?.op !== 'create' || end?.op !== 'update')
    throw new Error(
      `turn ${seq} of ${conversationId} is not begun by a create and ended by an update`,
    );
  return [
    { ...start, fields: { ...start.fields, ...end.fields } },
    { op: 'create', path: messageGuardPath(conversationId, messageId), fields: { seq, bodyHash } },
    ...userPieces,
    ...others.filter(({ path }) => path !== conversationPath(conversationId)),
  ];
}
