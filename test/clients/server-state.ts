import { z } from 'zod';
import { locateTool, type Place } from './talk.ts';

/*
 * What the server holds, asked with the API of the product itself: the other half of every trial.
 */

/** The library believes one thing and the server's state is another. */
export class Difference extends Error {}

export function differ(text: string): never {
  throw new Difference(text);
}

/** Throws a difference unless both are equal as JSON. */
export function same(what: string, actual: unknown, expected: unknown): void {
  const [have, want] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (have !== want) differ(`${what} is ${have}, expected ${want}`);
}

const POLL_MS = 10;

/** Waits up to `withinMs` until `look` gives something; a difference with `what` where it does not. */
export async function until<Seen>(
  what: string,
  look: () => Seen | undefined | false | Promise<Seen | undefined | false>,
  withinMs = 45_000,
): Promise<Seen> {
  for (const startedAt = Date.now(); Date.now() - startedAt < withinMs;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return differ(`after ${withinMs / 1_000} s still not: ${what}`);
}

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({ role: z.string(), state: z.string(), parts: z.array(part) });
const messages = z.object({ messages: z.array(message) });
const conversations = z.object({ conversations: z.array(z.looseObject({ id: z.string() })) });
const content = z.object({ role: z.string(), parts: z.array(part.partial()) });
const context = z.object({
  items: z.array(z.looseObject({ kind: z.string(), content: z.unknown() })),
});

export const textIn = (parts: readonly { type: string; text?: string | undefined }[]): string =>
  parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');

/** A call of the product's own API with `fetch`. Throws Error with the body of a failure. */
export async function callServer(
  place: Place,
  path: string,
  body?: object,
  accept = 'application/json',
): Promise<Response> {
  const response = await fetch(`${place.url}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${place.token}`,
      accept,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

const read = async (place: Place, path: string): Promise<unknown> =>
  (await callServer(place, path)).json();

/** The only conversation of the user. */
async function onlyConversation(place: Place): Promise<string> {
  const found = conversations.parse(await read(place, '/conversations')).conversations;
  if (found.length !== 1) differ(`the server has ${found.length} conversations in place of one`);
  return found[0]?.id ?? '';
}

/** All messages that are stored, oldest first. */
export async function storedMessages(place: Place) {
  const path = `/conversations/${await onlyConversation(place)}/messages?order=asc&pageSize=100`;
  return messages.parse(await read(place, path)).messages;
}

/** The same as `user: …` and `model: …`. */
export const transcript = async (place: Place): Promise<string[]> =>
  (await storedMessages(place)).map(({ role, parts }) => `${role}: ${textIn(parts)}`);

/** What the model would read with the next message, in the same form, without what the server adds. */
export async function modelContext(place: Place): Promise<string[]> {
  const path = `/conversations/${await onlyConversation(place)}/context`;
  const { items } = context.parse(await read(place, path));
  return items
    .filter(({ kind }) => kind === 'turn')
    .map((item) => content.parse(item.content))
    .map(({ role, parts }) => `${role}: ${parts.map(({ text = '' }) => text).join('')}`)
    .filter((line) => !/^\w+: $/u.test(line));
}

/** Creates a conversation whose model may call `locate`. */
export const createWithTool = async (place: Place, id: string): Promise<void> =>
  void (await callServer(place, '/conversations', { id, tools: [locateTool] }));

/** Waits until the last turn has ended; resolves to its state. */
export const endOfTurn = (place: Place): Promise<string> =>
  until('the server ended the turn', async () => {
    const last = (await storedMessages(place)).at(-1);
    return last?.state !== 'running' && last?.state !== 'queued' && last?.state;
  });
