import type { Caller } from '#shared/ports/ports.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import type { RouteDependencies, StreamReader } from '#functions/chat/route.ts';
import { turnBody } from '#functions/chat/routes/parts/turn-reply.ts';
import { readFinished } from '#functions/chat/turns/stream/read-finished.ts';
import { stillQueuedError } from '#functions/chat/turns/stream/stream-cut.ts';
import { streamConversation } from '#functions/chat/turns/stream/stream-conversation.ts';
import { orFailure } from '#functions/chat/turns/stream/turn-failure.ts';
import type { CallableCall } from './callable-events.ts';

interface Resume {
  caller: Caller;
  conversationId: string;
  locale: string | undefined;
}

async function resultOf(dependencies: RouteDependencies, asked: Resume, { seq }: Turn) {
  const finished = await readFinished(dependencies, { ...asked, seq });
  if (!finished) throw stillQueuedError(`turn ${seq} of ${asked.conversationId}`);
  return turnBody(orFailure(finished));
}

const nothing: (reader: Partial<StreamReader>) => CallableCall = () => ({
  // oxlint-disable-next-line eslint/no-empty-function -- there is nothing to give
  frames: (async function* () {})(),
  result: () => Promise.resolve({ turn: null }),
});

/**
 * The answer that is being given in a conversation, from its beginning, for any reader. Throws NOT_FOUND.
 */
export async function resumeCall(
  dependencies: RouteDependencies,
  asked: Resume,
): Promise<(reader: Partial<StreamReader>) => CallableCall> {
  const { caller, locale } = asked;
  const own = await readOwnConversation(dependencies, asked);
  const { sendMessage } = dependencies;
  const reading = { caller, cursor: undefined, locale, sendMessage };
  const stream = await streamConversation(dependencies, own, reading);
  if (!stream) return nothing;
  return (reader) => ({
    frames: stream.frames(reader),
    result: () => resultOf(dependencies, asked, stream.turn),
  });
}
