import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Place } from './columns.ts';
import { differ, same, until } from './observe.ts';

/*
 * What the server holds, asked with the API of the product itself: the other half of every trial.
 */

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const messages = z.object({
  messages: z.array(
    z.looseObject({ id: z.string(), role: z.string(), state: z.string(), parts: z.array(part) }),
  ),
});
const conversations = z.object({ conversations: z.array(z.looseObject({ id: z.string() })) });
const context = z.object({
  items: z.array(z.looseObject({ kind: z.string(), content: z.unknown() })),
});
const content = z.object({
  role: z.string(),
  parts: z.array(z.looseObject({ text: z.string().optional() })),
});

export const textIn = (parts: readonly { type: string; text?: string | undefined }[]): string =>
  parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');

/** A call of the API. Throws a difference where the answer is no success. */
async function call(place: Place, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${place.url}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${place.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) differ(`the server has no ${path}: ${response.status}`);
  return response.json();
}

/** The only conversation of the user. */
export async function onlyConversation(place: Place): Promise<string> {
  const found = conversations.parse(await call(place, '/conversations')).conversations;
  if (found.length !== 1) differ(`the server has ${found.length} conversations in place of one`);
  return found[0]?.id ?? '';
}

/** All messages that are stored, oldest first. */
export async function storedMessages(place: Place, conversationId: string) {
  return messages.parse(
    await call(place, `/conversations/${conversationId}/messages?order=asc&pageSize=100`),
  ).messages;
}

/** The same as `user: …` and `model: …`. */
export async function transcript(place: Place, conversationId: string): Promise<string[]> {
  const stored = await storedMessages(place, conversationId);
  return stored.map(({ role, parts }) => `${role}: ${textIn(parts)}`);
}

/** What the model would read with the next message, in the same form, without what the server adds. */
export async function modelContext(place: Place, conversationId: string): Promise<string[]> {
  const { items } = context.parse(await call(place, `/conversations/${conversationId}/context`));
  return items
    .filter(({ kind }) => kind === 'turn')
    .map((item) => content.parse(item.content))
    .map(({ role, parts }) => `${role}: ${parts.map(({ text = '' }) => text).join('')}`)
    .filter((line) => !/^\w+: $/u.test(line));
}

/** Creates a conversation, with these functions of the app. */
export async function createConversation(place: Place, tools?: readonly object[]): Promise<string> {
  const id = randomUUID();
  await call(place, '/conversations', { id, ...(tools && { tools }) });
  return id;
}

/** Waits until the last turn is cancelled, and not just finished. */
export async function isStopped(place: Place, conversationId: string): Promise<void> {
  const state = await until(
    'the server ended the turn',
    async () => {
      const last = (await storedMessages(place, conversationId)).at(-1);
      return last && last.state !== 'running' && last.state !== 'queued' ? last.state : undefined;
    },
    25_000,
  );
  if (state !== 'cancelled') differ(`the server did not stop: its turn ended as ${state}`);
}

/** Checks that the context is one question and its answer as the client shows it. */
export async function isOnlyTurn(
  place: Place,
  conversationId: string,
  { question, answer }: { question: string; answer: string },
): Promise<void> {
  const expected = [`user: ${question}`, `model: ${answer}`];
  same('the context', await modelContext(place, conversationId), expected);
}
