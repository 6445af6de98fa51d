import { chunksCollection } from '#shared/conversation/documents/paths.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { startFaultStack } from '../support/processes/fault-stack.ts';
import { idTokenClaims } from '../support/token-keys.ts';
import { readEvents, shownText } from '../support/wire/shown-by-client.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';

/** Syllables as jamo, which a font joins; people joined by ZWJ; letters of two directions. */
const MIXED =
  '\u1112\u1161\u11ab\u1100\u1173\u11af 한글 👩‍👩‍👧‍👦👋🏽🏳️‍🌈🇰🇷 مرحبا \u202bעברית\u202c \u2067العربية\u2069 ';

/** The same characters again and again, each time at another place in whatever is cut. */
const repeated = (unit: string, times: number) =>
  Array.from({ length: times }, (_, n) => `${'x'.repeat(n % 7)}${unit}`).join('');

const stack = await startFaultStack();
afterAll(() => stack.stop());

test('another instance reads the same text from stored chunks, whatever lies on their borders', async () => {
  const conversationId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const question = `Say it. ${conversationId}`;
  const text = repeated(MIXED, 40);
  stack.answerWith(question, text);
  stack.fakeGemini.setTiming({ tokensPerSecond: 1_500 });
  stack.fakeGemini.queueFaults({ kind: 'splitBytes', sizeBytes: 1_024 });
  const other = await startChatServer({ overrides: { store: stack.store } });
  onTestFinished(() => other.stop());
  const { keys, project } = stack.chat;
  const token = await keys.sign(idTokenClaims(project, 'alice'));
  const sent = await stack.chat.call(`${path}/messages`, {
    token,
    headers: { accept: 'text/event-stream' },
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: question }] } },
  });
  const events = await readEvents(sent);

  const read = await readEvents(await other.call(`${path}/turns/t_1/stream?startingAfter=0`));

  const collection = chunksCollection(conversationId, 1);
  expect((await stack.store.query({ collection, limit: 100 })).length).toBeGreaterThan(2);
  expect(read).toEqual(events.slice(1));
  expect(shownText(read)).toBe(text);
  for (const { chunk } of events) expect((chunk.delta ?? '').isWellFormed()).toBe(true);
});
