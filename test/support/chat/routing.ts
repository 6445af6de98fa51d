import { systemClock } from '#functions/adapters/clocks.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createConversation } from '#functions/chat/conversations/write-conversation.ts';
import { ROUTING_TIMEOUT_MS } from '#functions/chat/features/route-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { ConversationPatch } from '#shared/wire/resources/conversations.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { collect, request } from './sending.ts';
import { randomUUID } from 'node:crypto';

export const FAST = 'gemini-3.8-flash';
export const STRONG = 'gemini-3.1-pro-preview';
export const CLASSIFIER = 'gemini-3.1-flash-lite';

/** What the fake Gemini answers as easy and as hard. */
export const EASY = 'What is the capital of France?';
export const HARD = 'Please plan a week in Kyoto for us.';

export const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** An instance of chat that may choose between two models of a server. */
export const routedChat = (
  model: ChatDependencies['model'],
  overrides: Partial<ChatDependencies> = {},
  environment: Record<string, string> = {},
) =>
  chatDependencies(
    { model, ...overrides },
    {
      ROUTING_MODELS: `${FAST},${STRONG}`,
      CLIENT_WRITABLE: 'model,routing,windowTokens,tools',
      ...environment,
    },
  );

/** A conversation whose model is `auto`. */
export async function autoConversation(
  chat: ChatDependencies,
  fields: ConversationPatch = {},
): Promise<string> {
  const id = randomUUID();
  await createConversation(chat, { caller, id, fields: { model: 'auto', ...fields } });
  return id;
}

/** Sends a message; the turn as it ended, and its frames. */
export async function ask(chat: ChatDependencies, conversationId: string, text: string) {
  const handle = await sendMessage(chat, request(conversationId, text));
  const frames = await collect(handle.frames());
  const { turn, context } = await handle.result;
  await Promise.all(chat.afterwork);
  return { turn, context, frames };
}

/** Who asked which model of a server, in order. */
export const callsOf = (server: Pick<FakeGemini, 'journal'>): string[] =>
  server.journal().map(({ role, model }) => `${role} ${model}`);

/** A clock on which the classifier's time is over at once. */
export const impatientClock = {
  ...systemClock,
  wait: (ms: number, signal?: AbortSignal) =>
    systemClock.wait(ms === ROUTING_TIMEOUT_MS ? 20 : ms, signal),
};
