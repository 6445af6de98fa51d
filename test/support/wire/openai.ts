import { clientOptions } from '#docs/clients/recipes/openai-sdk.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import { readAs } from '#test/support/chat/chat-server.ts';
import type { WireServer } from './wire-server.ts';
import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';

export const usage: ModelUsage = {
  promptTokens: 1_000,
  cachedTokens: 800,
  outputTokens: 20,
  thoughtsTokens: 5,
};

/** The same as clients of OpenAI get it. */
export const usageOfOpenAi = {
  prompt_tokens: 1_000,
  completion_tokens: 25,
  total_tokens: 1_025,
  prompt_tokens_details: { cached_tokens: 800 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

/** The real client as a user, and the requests that it made. `send` stands for `fetch`. */
export async function clientOf(
  server: WireServer,
  options: { uid?: string; maxRetries?: number; send?: typeof fetch } = {},
) {
  const { uid, send = fetch, ...rest } = options;
  const posts: Request[] = [];
  const idToken = (await server.authorization(uid)).replace('Bearer ', '');
  const client = new OpenAI({
    ...clientOptions({ baseUrl: server.url, idToken }),
    ...rest,
    fetch: (input, init) => {
      posts.push(new Request(input, init));
      return send(input, init);
    },
  });
  return { client, posts };
}

export const newText = () => `Hello ${randomUUID()}`;

/** A request that says `text` in a conversation, by default in a new one. */
export const bodyOf = (text: string, conversationId: string = randomUUID()) => ({
  model: 'gpt-4o',
  messages: [{ role: 'user' as const, content: text }],
  metadata: { conversation_id: conversationId },
});

/** The messages of a conversation of alice as its transcript shows them: role and text. */
export async function transcriptOf(server: WireServer, conversationId: string) {
  const response = await server.call(`/v1/conversations/${conversationId}/messages?order=asc`);
  const { messages } = await readAs(messageListResponse, response);
  return messages.map(({ role, parts }) => [
    role,
    parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  ]);
}

/** The error that a call of the SDK fails with. Throws Error when it does not. */
export async function errorOfSdk(
  call: Promise<unknown>,
): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error('the call did not fail');
  return error;
}
