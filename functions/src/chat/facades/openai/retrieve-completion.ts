import { AppError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { sendStored } from '#functions/chat/turns/send/send-stored.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import type { Completion } from './completion.ts';
import { toCompletion } from './turn-completion.ts';

/** `chatcmpl-{conversationId}-{turnId}`, as an answer with a conversation is called. */
const STORED_ID = /^chatcmpl-([0-9a-f-]{36})-(t_\d+)$/i;

const notStored = () =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'COMPLETION_NOT_FOUND',
    message: 'a completion that is not stored was asked for',
    publicMessage:
      'There is no such completion. Only one with a conversation is stored; its id is `chatcmpl-{conversationId}-{turnId}`.',
  });

/** A completion that was given before, as it stands now. Throws COMPLETION_NOT_FOUND, NOT_FOUND, TURN_NOT_FOUND. */
export async function retrieveCompletion(
  dependencies: RouteDependencies,
  { caller, id }: { caller: Caller; id: string },
): Promise<Completion> {
  const [, named, turnId] = STORED_ID.exec(id) ?? [];
  if (named === undefined || turnId === undefined) throw notStored();
  const conversationId = toLowerUuid(named);
  const { own, turn } = await readOwnTurn(dependencies, { caller, conversationId, turnId });
  const { sendMessage } = dependencies;
  const handle = await sendStored(dependencies, {
    caller,
    conversationId,
    locale: undefined,
    cursor: undefined,
    isReader: true,
    turn: turn.value,
    sendMessage,
  });
  const conversation = own.conversation.value;
  return toCompletion(dependencies, { handle, conversation, answered: [], ignored: [] });
}
