import { contentText } from '#shared/models/content.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { withoutTold } from '#test/support/tools/tool-world.ts';
import { readAsAndroid, readAsIos } from '#test/support/wire/phone-callables.ts';
import { shownText, type WireEvent } from '#test/support/wire/shown-by-client.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import fc from 'fast-check';

/* Text of the model that looks like the framing of its own stream. */

/** What ends a line, an event or a field for some reader of event streams, and what surrounds it in one. */
const breaking = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\r\r',
  '\r\n\r\n',
  '\u0000',
  '\u000b',
  '\u000c',
  '\u0085',
  '\u2028',
  '\u2029',
  '\ufeff',
  'data:',
  'data: ',
  'event: error',
  'id: 99',
  'retry: 1',
  ': keep-alive',
  'data: [DONE]',
  '[DONE]',
  'data: {"type":"finish","finishReason":"stop"}',
  'data: {"result":null}',
  '"}',
  '\\',
  '\\n',
  '\\u2028',
  '</script>',
  '한',
  '👩‍👩‍👧',
  'text',
  ' ',
];

/**
 * `count` texts, each with at least one line end or field of an event stream in it; the same ones for the same
 * seed.
 */
function frameBreakingTexts(count: number, seed: number): string[] {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...breaking), fc.string({ unit: 'binary', maxLength: 8 })), {
      minLength: 1,
      maxLength: 12,
    })
    .map((pieces) => pieces.join(''))
    .filter((joined) => breaking.slice(0, -4).some((piece) => joined.includes(piece)));
  return fc.sample(text, { numRuns: count, seed });
}

const CASES = 500;
const TEXTS_PER_ANSWER = 10;
const texts = frameBreakingTexts(CASES, 15);
const answers = Array.from({ length: CASES / TEXTS_PER_ANSWER }, (_, n) =>
  texts.slice(n * TEXTS_PER_ANSWER, (n + 1) * TEXTS_PER_ANSWER),
);
const AT_ONCE = 10;

/** Gives answer n to whoever asks `n`, a text at a time. */
const model: ModelStreamer = {
  async *stream({ contents }) {
    const asked = contents.at(-1);
    for (const text of answers[Number(asked ? contentText(withoutTold(asked)) : '')] ?? [])
      yield { parts: [{ text }] };
    yield { parts: [], finishReason: 'STOP' };
  },
};

const server = await startWireServer({ overrides: { model } });
afterAll(() => server.stop());

/** The answers of which a client is told something else than what the model said, and what that was. */
async function differences(
  toldOf: (n: number) => Promise<unknown>,
  said: (text: string) => unknown = (text) => text,
): Promise<unknown[]> {
  const told: unknown[] = [];
  for (let first = 0; first < answers.length; first += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, i) => toldOf(first + i));
    told.push(...(await Promise.all(some)));
  }
  expect(told).toHaveLength(answers.length);
  const isSame = (n: number, text: string) =>
    JSON.stringify(told[n]) === JSON.stringify(said(text));
  return answers
    .map((pieces) => pieces.join(''))
    .flatMap((text, n) => (isSame(n, text) ? [] : [{ n, text, told: told[n] }]));
}

const messageOf = (n: number) => ({
  id: randomUUID(),
  parts: [{ type: 'text', text: String(n) }],
});
const SSE = { accept: 'text/event-stream' };

/** A stream as a parser of the standard reads it. */
function readByStandard(body: string) {
  const read: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => void read.push(event) }).feed(body);
  const events = read
    .filter(({ data }) => data !== '[DONE]')
    .map(({ id, data }): WireEvent => ({ id: Number(id), chunk: JSON.parse(data) }));
  return {
    text: shownText(events),
    names: [...new Set(read.map(({ event }) => event))],
    ids: events.every(({ id }, i) => id === i),
    ends: read.filter(({ data }) => data === '[DONE]').length,
    finishes: events.filter(({ chunk }) => chunk.type === 'finish').length,
    isDoneLast: read.at(-1)?.data === '[DONE]',
  };
}

test('S15: framing-like texts arrive intact in the native stream, without extra events', async () => {
  const read = async (n: number) => {
    const path = `/v1/conversations/${randomUUID()}/messages`;
    const sent = await server.call(path, { body: { message: messageOf(n) }, headers: SSE });
    return readByStandard(await sent.text());
  };

  const wrong = await differences(read, (text) => ({
    text,
    names: [undefined],
    ids: true,
    ends: 1,
    finishes: 1,
    isDoneLast: true,
  }));

  expect(wrong).toEqual([]);
});

test('S15: framing-like texts are one event each for Firebase’s iOS and Android SDKs', async () => {
  const readAsPhones = async (n: number) => {
    const data = { conversationId: randomUUID(), message: messageOf(n) };
    const sent = await server.call('/callable/chat', { body: { data }, headers: SSE });
    const body = await sent.text();
    return [readAsIos, readAsAndroid].map((readPhone) => {
      const { messages, error, result } = readPhone(sent.status, body);
      const shown = messages.map(({ delta = '' }) => String(delta)).join('');
      return { shown, error: error ?? null, hasResult: result !== undefined };
    });
  };

  const wrong = await differences(readAsPhones, (shown) => {
    const read = { shown, error: null, hasResult: true };
    return [read, read];
  });

  expect(wrong).toEqual([]);
});
