import { randomUUID } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { chunksCollection } from '#shared/conversation/documents/paths.ts';
import { startFaultStack } from '../support/processes/fault-stack.ts';
import { startChatServer } from '../support/chat/chat-server.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { idTokenClaims } from '../support/token-keys.ts';
import { readEvents, shownText } from '../support/wire/shown-by-client.ts';

/** Syllables as jamo, which a font joins; people joined by ZWJ; letters of two directions. */
const HANGUL_JAMO = '\u1112\u1161\u11ab\u1100\u1173\u11af 한글 ';
const ZWJ_EMOJI = '👩‍👩‍👧‍👦👋🏽🏳️‍🌈🇰🇷 ';
const RIGHT_TO_LEFT = 'مرحبا \u202bעברית\u202c \u2067العربية\u2069 ';
const MIXED = HANGUL_JAMO + ZWJ_EMOJI + RIGHT_TO_LEFT;

/** The same characters again and again, each time at another place in whatever is cut. */
const repeated = (unit: string, times: number) =>
  Array.from({ length: times }, (_, n) => `${'x'.repeat(n % 7)}${unit}`).join('');

const stack = await startFaultStack();
afterAll(() => stack.stop());

/** A network between client and server that hands on `sizeBytes` at a time, in writes of their own. */
async function narrowNetwork(url: string, sizeBytes: number): Promise<string> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream])
      sockets.add(socket.setNoDelay(true).on('error', () => socket.destroy()));
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      upstream.pause();
      const next = (start: number): void => {
        if (start >= bytes.length) return void upstream.resume();
        client.write(bytes.subarray(start, start + sizeBytes), () =>
          setImmediate(next, start + sizeBytes),
        );
      };
      next(0);
    });
    upstream.on('close', () => client.end());
  });
  const opened = await openServer(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await opened.close();
  });
  return opened.url;
}

/** An answer that says `text`, sent through a narrow network; the model’s own bytes come split as well. */
async function answerThrough(text: string, sizeBytes: number) {
  const conversationId = randomUUID();
  const question = `Say it. ${conversationId}`;
  stack.answerWith(question, text);
  stack.fakeGemini.queueFaults({ kind: 'splitBytes', sizeBytes });
  const url = await narrowNetwork(stack.chat.url, sizeBytes);
  const path = `/v1/conversations/${conversationId}`;
  const body = { message: { id: randomUUID(), parts: [{ type: 'text', text: question }] } };
  const { keys, project } = stack.chat;
  const token = await keys.sign(idTokenClaims(project, 'alice'));
  const sent = await fetch(`${url}${path}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });
  return { conversationId, path, events: await readEvents(sent) };
}

test.each([
  ['Hangul jamo', HANGUL_JAMO, 1],
  ['emoji joined by ZWJ', ZWJ_EMOJI, 1],
  ['letters from right to left', RIGHT_TO_LEFT, 1],
  ['all of them', MIXED, 2],
  ['all of them', MIXED, 3],
  ['all of them', MIXED, 5],
])(
  'characters of %s arrive whole in TCP writes of a few bytes (%#)',
  async (_, unit, sizeBytes) => {
    const text = repeated(unit, 4);

    const { events } = await answerThrough(text, sizeBytes);

    expect(shownText(events)).toBe(text);
    for (const { chunk } of events) expect((chunk.delta ?? '').isWellFormed()).toBe(true);
  },
);

test('another instance reads the same text from stored chunks, whatever lies on their borders', async () => {
  stack.fakeGemini.setTiming({ tokensPerSecond: 1_500 });
  const text = repeated(MIXED, 40);
  const { conversationId, path, events } = await answerThrough(text, 1_024);
  const other = await startChatServer({ overrides: { store: stack.store } });
  onTestFinished(() => other.stop());
  const chunks = await stack.store.query({
    collection: chunksCollection(conversationId, 1),
    limit: 100,
  });

  const rest = await other.call(`${path}/turns/t_1/stream?startingAfter=0`);
  const read = await readEvents(rest);

  expect(chunks.length).toBeGreaterThan(2);
  expect(read).toEqual(events.slice(1));
  expect(shownText(read)).toBe(text);
});
