import { conversationWithContextResponse } from '#shared/wire/resources/conversations.ts';
import { pinListResponse, pinResponse } from '#shared/wire/resources/pins.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  expectClean,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const streamer = scriptedStreamer(textAnswer('Fruit.'));
const chat = await startChatServer({
  overrides: { model: streamer.model },
  environment: { THRESHOLD_TOKENS: '1000' },
});
afterAll(() => chat.stop());

const pinsPath = (conversationId: string, pinId?: string) =>
  `/v1/conversations/${conversationId}/pins${pinId === undefined ? '' : `/${pinId}`}`;

const put = (conversationId: string, pinId: string, body: unknown) =>
  chat.call(pinsPath(conversationId, pinId), { method: 'PUT', body });

const list = async (conversationId: string) =>
  readAs(pinListResponse, await chat.call(pinsPath(conversationId)));

/** About `tokens` tokens. */
const textOf = (tokens: number) => 'bee '.repeat(Math.ceil(tokens / 0.8)).trim();

test('a pin is put, replaced, read and removed by its id', async () => {
  const { id } = await createConversation(chat);

  const made = await put(id, 'allergy', { text: 'No hazelnuts.' });
  const replaced = await put(id, 'allergy', { text: 'No nuts at all.' });

  expect([made.status, replaced.status]).toEqual([201, 200]);
  const pin = { id: 'allergy', text: 'No nuts at all.', source: 'api' };
  expect(await readAs(pinResponse, replaced)).toEqual(pin);
  expect(await readAs(pinResponse, await chat.call(pinsPath(id, 'allergy')))).toEqual(pin);
  const deleted = await chat.call(pinsPath(id, 'allergy'), { method: 'DELETE' });
  expect([deleted.status, await deleted.text()]).toEqual([204, '']);
  expect((await list(id)).pins).toEqual([]);
});

test('a deleted pin does not come back with a late copy of its request', async () => {
  const { id } = await createConversation(chat);
  await put(id, 'allergy', { text: 'No hazelnuts.' });
  await chat.call(pinsPath(id, 'allergy'), { method: 'DELETE' });

  const late = await errorOf(await put(id, 'allergy', { text: 'No hazelnuts.' }));
  const again = await put(id, 'nuts', { text: 'No hazelnuts.' });

  expect(late).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  expect(late.message).toContain('Choose a new id');
  expect(again.status).toBe(201);
});

test('the pin list shows all pins, the oldest first, with their total size', async () => {
  const { id } = await createConversation(chat);
  await put(id, 'one', { text: 'No hazelnuts.' });
  await put(id, 'two', { text: 'Aisle seat.' });

  const { pins, tokens, budgetTokens } = await list(id);

  expect(pins.map((pin) => pin.id)).toEqual(['one', 'two']);
  expect(tokens).toBeGreaterThan(5);
  expect(tokens).toBeLessThan(budgetTokens);
  expect(budgetTokens).toBe(125);
});

const send = (id: string) => {
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'What may I eat?' }] };
  const headers = { accept: 'application/json' };
  return chat.call(`/v1/conversations/${id}/messages`, { headers, body: { message } });
};

test('the context is larger with a pin, before and after an answer', async () => {
  const { id } = await createConversation(chat);
  const tokens = async () => {
    const response = await chat.call(`/v1/conversations/${id}`);
    return (await readAs(conversationWithContextResponse, response)).context.tokens;
  };
  const sizes = [await tokens()];
  await put(id, 'one', { text: textOf(40) });
  sizes.push(await tokens());
  await send(id);
  sizes.push(await tokens());
  await put(id, 'two', { text: textOf(40) });
  sizes.push(await tokens());
  await chat.call(pinsPath(id, 'one'), { method: 'DELETE' });
  await chat.call(pinsPath(id, 'two'), { method: 'DELETE' });
  sizes.push(await tokens());

  const [empty = 0, pinned = 0, answered = 0, twice = 0, none = 0] = sizes;
  expect(pinned - empty).toBeGreaterThan(40);
  expect(twice - answered).toBeGreaterThan(30);
  expect(answered - none).toBeGreaterThan(40);
});

test('a pin that does not fit beside the others is refused with the space left', async () => {
  const { id } = await createConversation(chat);
  await put(id, 'one', { text: textOf(60) });

  const error = await errorOf(await put(id, 'two', { text: textOf(100) }));

  expectClean(error);
  expect(error).toMatchObject({ http: 400, reason: 'PIN_BUDGET' });
  const { remainingTokens, neededTokens, budgetTokens } = error.metadata;
  expect(budgetTokens).toBe('125');
  expect(Number(remainingTokens)).toBeGreaterThan(20);
  expect(Number(remainingTokens)).toBeLessThan(Number(neededTokens));
  expect(error.message).toContain(`${remainingTokens} are left`);
  expect(error.message).toContain('delete another pin');
  expect((await list(id)).pins).toHaveLength(1);
});

test.each([
  ['with a blank text', { text: ' \n' }, 'text'],
  ['with half of a surrogate pair', '{"text":"\\ud83d"}', 'text'],
  ['with a field that is not known', { text: 'a', seq: 3 }, 'seq'],
])('a pin is refused: %s', async (_, body, field) => {
  const { id } = await createConversation(chat);

  const error = await errorOf(await put(id, 'one', body));

  expectClean(error);
  expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD', metadata: { field } });
});
