import { randomUUID } from 'node:crypto';
import { describeValue, jsonText } from './hostile-json.ts';
import type { HostileWorld } from './world.ts';

/** Values in their order; the first ones again once all have been taken. */
export interface Supply {
  take: () => unknown;
  taken: number;
}

export function supplyOf(values: readonly unknown[]): Supply {
  const supply: Supply = {
    taken: 0,
    take: () => values[supply.taken++ % values.length],
  };
  return supply;
}

export interface Journey extends HostileWorld {
  uid: string;
  conversationId: string;
  path: string;
  supply: Supply;
  problems: string[];
  outcomes: string[];
}

export type Call = { method?: string; path: string; body?: unknown };

export async function call(journey: Journey, { method = 'GET', path, body }: Call) {
  const { app, uid, problems, errors } = journey;
  const sent = body === undefined ? undefined : jsonText(body);
  const answer = await app.call({ method, path, uid, body: sent });
  if (answer.status >= 500)
    problems.push(
      `${method} ${path} ${describeValue(body)}\n  → ${answer.status} ${answer.text.slice(0, 400)}\n  ${errors.join('\n  ')}`,
    );
  errors.length = 0;
  return answer;
}

export const jsonOf = (text: string): Record<string, unknown> => {
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  return typeof value === 'object' && value !== null ? { ...value } : {};
};

export const messageOf = (parts: unknown, id: string = randomUUID()) => ({
  message: { id, parts },
});

export const said = (text: string, id?: string) => messageOf([{ type: 'text', text }], id);

export const send = (journey: Journey, body: unknown) =>
  call(journey, { method: 'POST', path: `${journey.path}/messages`, body });

/** Everything that shows a conversation. */
export async function look(journey: Journey): Promise<void> {
  const { path } = journey;
  for (const place of [
    path,
    `${path}/context`,
    `${path}/messages?pageSize=100`,
    `${path}/messages?order=desc&pageSize=3`,
    `${path}:export`,
    `${path}:export?format=markdown`,
    `${path}:search?q=noted`,
    `${path}/compactions`,
    `${path}/pins`,
    '/v1/conversations',
    '/v1/users/me/memories',
    '/v1/users/me/usage',
  ])
    await call(journey, { path: place });
}

/** A plain message is answered, and the context can be seen: else the conversation is bricked. */
export async function prove(journey: Journey, when: string): Promise<void> {
  const { problems, model, give, path } = journey;
  model.queue.length = 0;
  const { next } = give;
  give.next = () => undefined;
  const { status, text } = await send(journey, said('A plain message.'));
  const { turn } = jsonOf(text);
  if (status !== 200 || !JSON.stringify(turn).includes('"state":"done"'))
    problems.push(`bricked ${when}: a plain message is answered ${status} ${text.slice(0, 500)}`);
  const context = await call(journey, { path: `${path}/context` });
  if (context.status !== 200)
    problems.push(`bricked ${when}: /context answers ${context.status} ${context.text}`);
  give.next = next;
}

export async function changeMessages(journey: Journey, messageId: string): Promise<void> {
  const { path } = journey;
  const places = `${path}/messages`;
  await call(journey, { method: 'POST', path: `${places}/m_2:regenerate`, body: {} });
  await call(journey, {
    method: 'POST',
    path: `${places}/${messageId}:edit`,
    body: said('Edited.'),
  });
  await call(journey, { method: 'DELETE', path: `${places}/m_3` });
  await call(journey, { method: 'DELETE', path: `${places}/${messageId}` });
}

/** Deletes the conversation for good, as chat and worker do it together. */
export async function eraseAll(journey: Journey): Promise<void> {
  const { path, conversationId, problems } = journey;
  await call(journey, { path: '/v1/users/me:export' });
  await call(journey, { method: 'DELETE', path: `${path}?permanent=true` });
  const erased = await journey.erase(conversationId);
  if (erased !== 'erased') problems.push(`the conversation was not erased: ${erased}`);
  await call(journey, { method: 'POST', path: '/v1/users/me:erase', body: {} });
}
