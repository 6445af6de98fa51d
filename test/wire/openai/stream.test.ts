import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#functions/adapters/clocks.ts';
import { completionText, openAiFinish } from '#functions/chat/facades/openai/completion.ts';
import { chatCompletionChunk } from '#shared/wire/facades/openai.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { bodyOf, newText } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const step = {
  text: 'Other.',
  calls: [],
  approvals: [],
  finishReason: 'STOP',
  usage: undefined,
  citations: [],
  isPassed: false,
  endTime: new Date(),
};

test.each([
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['STOP', 'stop'],
  ['OTHER', 'stop'],
])('an answer ended by %s is %s for the OpenAI SDK', (finishReason, expected) => {
  expect(openAiFinish({ ...step, finishReason })).toBe(expected);
});

test.each([
  ['after its first word is an error', 'One ', true],
  ['before its first word is nothing', '', false],
])('an OpenAI stream of an abandoned and a new attempt %s', async (_, said, isError) => {
  async function* frames(): AsyncGenerator<StreamFrame> {
    const id = 'restarted-2' as const;
    const data = { kind: 'restarted' as const, dropParts: ['p0'] };
    if (said !== '') yield { id: 0, chunk: { type: 'text-delta', id: 'p0', delta: said } };
    yield await Promise.resolve({ id: 1, chunk: { type: 'data-notice', id, data } });
    yield { id: 2, chunk: { type: 'text-delta', id: 'p1', delta: 'Other.' } };
  }
  const answer = {
    recap: { conversationId: 'c', turnId: 't_1', generation: 0 },
    created: 0,
    model: 'm',
    frames,
    subscribe: () => undefined,
    step: () => Promise.resolve(step),
    work: Promise.resolve(),
  };
  const left = new AbortController().signal;
  const options = { clock: systemClock, heartbeatMs: 8_000, left, includeUsage: false };

  const events: string[] = [];
  for await (const event of completionText({ answer, ignored: [] }, options)) events.push(event);

  expect(events.at(-1)?.includes('ANSWER_RESTARTED')).toBe(isError);
  expect(events.join('').includes('Other.')).toBe(!isError);
});

test('an OpenAI stream is lines of data alone, empty chunks while the model is silent, and [DONE]', async () => {
  const server = await startWireServer({ collaborators: { heartbeatMs: 20 } });
  onTestFinished(() => server.stop());
  const text = newText();
  const response = await server.call('/v1/openai/chat/completions', {
    body: { ...bodyOf(text), stream: true },
  });
  let stream = '';
  let isAnswered = false;
  for await (const bytes of response.body ?? []) {
    stream += new TextDecoder().decode(bytes);
    if (isAnswered || stream.split('\n\n').length < 6) continue;
    isAnswered = true;
    await server.answer(text, 'Fine.');
  }

  const events = stream.split('\n\n');
  expect(events.slice(-2)).toEqual(['data: [DONE]', '']);
  const chunks = events.slice(0, -2).map((event) => event.replace(/^data: /, ''));
  for (const chunk of chunks) chatCompletionChunk.parse(JSON.parse(chunk));
  expect(chunks.length).toBeGreaterThan(5);
});
