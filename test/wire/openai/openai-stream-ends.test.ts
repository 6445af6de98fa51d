import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import { completionText } from '#functions/chat/facades/openai/completion.ts';
import { chatCompletionChunk, chatCompletionResponse } from '#shared/wire/facades/openai.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { overloaded } from '#test/support/model-down.ts';
import { bodyOf, clientOf, errorOfSdk, newText } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

describe('the end of an answer', () => {
  test.each([
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['STOP', 'stop'],
    ['OTHER', 'stop'],
  ])('an answer ended by %s is %s for the OpenAI SDK', async (reason, finishReason) => {
    const own = await startWireServer({
      overrides: {
        model: {
          async *stream() {
            yield await Promise.resolve({ parts: [{ text: 'One' }], finishReason: reason });
          },
        },
      },
    });
    const send = (stream: boolean) =>
      own.call('/v1/openai/chat/completions', { body: { ...bodyOf(newText()), stream } });
    const whole = await readAs(chatCompletionResponse, await send(false));
    const streamed = await (await send(true)).text();
    await own.stop();

    expect(whole.choices[0]?.finish_reason).toBe(finishReason);
    expect(streamed).toContain(`"finish_reason":"${finishReason}"`);
    expect(
      streamed.split('\n\n').every((event) => event === '' || event.startsWith('data: ')),
    ).toBe(true);
    expect(streamed.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('an answer broken in mid-stream makes the OpenAI SDK throw', async () => {
    const { client } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const streaming = client.chat.completions.create({
      ...bodyOf(text, conversationId),
      stream: true,
    });
    const call = await server.callOf(text);
    call.say('One ');
    const stream = await streaming;
    call.fail(overloaded());
    const error = await errorOfSdk(
      (async () => {
        for await (const chunk of stream) void chunk;
      })(),
    );

    expect(error.message).toBe('The model is overloaded.');
    expect(error.type).toBe('server_error');
  });

  test('an OpenAI stream sends empty chunks until the answer’s end', async () => {
    const own = await startWireServer({ collaborators: { heartbeatMs: 20 } });
    const text = newText();
    const response = await own.call('/v1/openai/chat/completions', {
      body: { ...bodyOf(text), stream: true },
    });
    const events: string[] = [];
    let isAnswered = false;
    for await (const bytes of response.body ?? []) {
      events.push(...new TextDecoder().decode(bytes).split('\n\n').filter(Boolean));
      if (events.length < 5 || isAnswered) continue;
      isAnswered = true;
      await own.answer(text, 'Fine.');
    }
    await own.stop();

    const chunks = events.filter((event) => event !== 'data: [DONE]');
    for (const event of chunks) chatCompletionChunk.parse(JSON.parse(event.slice(6)));
    expect(chunks.length).toBeGreaterThan(5);
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
    const answer = {
      recap: { conversationId: 'c', turnId: 't_1', generation: 0 },
      created: 0,
      model: 'm',
      frames,
      subscribe: () => undefined,
      step: () => Promise.resolve(step),
      work: Promise.resolve(),
    };
    const completion = { answer, ignored: [] };
    const left = new AbortController().signal;
    const options = { clock: systemClock, heartbeatMs: 8_000, left, includeUsage: false };
    const events: string[] = [];
    for await (const event of completionText(completion, options)) events.push(event);

    expect(events.at(-1)?.includes('ANSWER_RESTARTED')).toBe(isError);
    expect(events.join('').includes('Other.')).toBe(!isError);
  });
});
