import { z } from 'zod';
import { showContext } from '#functions/chat/context/show-context.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { noCache } from '#shared/conversation/context/read-conversation.ts';
import { unsignedToken } from '../local/processes/unsigned-token.ts';
import type { AskContext } from './verify/load/load-context.ts';

const ASK_TIMEOUT_MS = 10_000;

const shownSchema = z.object({
  generation: z.number(),
  items: z.array(z.object({ kind: z.string(), seq: z.number().optional(), content: z.unknown() })),
});

/**
 * Asks what `/context` shows: the chat function of a local stack over HTTP, its caches included; of any other
 * project, whose users' tokens nobody has here, the function that serves the route.
 */
export function askChat(chat: ChatDependencies, chatUrl: string | undefined): AskContext {
  if (chatUrl === undefined)
    return ({ conversationId, uid }) =>
      showContext(
        { ...chat, cache: noCache },
        { caller: { uid, tier: 'signedIn' }, conversationId },
      );
  const projectId = chat.config.GOOGLE_CLOUD_PROJECT;
  return async ({ conversationId, uid }) => {
    const token = unsignedToken({ uid, projectId, now: chat.clock.now() });
    const response = await fetch(
      `${chatUrl}/v1/conversations/${encodeURIComponent(conversationId)}/context`,
      {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      },
    );
    const body: unknown = await response.json();
    return response.ok ? shownSchema.parse(body) : undefined;
  };
}
