import { randomUUID } from 'node:crypto';
import { translateError } from '#functions/adapters/gemini/gemini-errors.ts';
import { openAiErrorReply } from '#functions/chat/facades/openai/error-reply.ts';
import { errorReply } from '#shared/wire/errors/error-body.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { describe, expect, test } from 'vitest';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { overloaded } from '#test/support/model-down.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';

const quotaError = {
  status: 'RESOURCE_EXHAUSTED',
  reason: 'MODEL_QUOTA',
  message: 'quota',
  publicMessage: 'The model is at its limit.',
  retryable: true,
} as const;

describe('contract 8: the same message id', () => {
  test('a message id sent twenty times at once is one turn, answered to all', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Once.'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();
    const send = request(id, 'Hello');

    const handles = await Promise.all(
      Array.from({ length: 20 }, () => sendMessage(dependencies, send)),
    );
    const results = await Promise.all(handles.map(({ result }) => result));

    expect(requests).toHaveLength(1);
    expect(new Set(results.map(({ turn }) => turn.seq))).toEqual(new Set([1]));
    expect((await readConversation(dependencies.store, id))?.value.lastSeq).toBe(1);
  });

  test('a message id sent to another instance meanwhile waits for the running answer', async () => {
    const store = createMemoryDocumentStore();
    let open = () => undefined as void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { model, requests } = scriptedStreamer({ ...textAnswer('Shared.'), gate });
    const [first, second] = [
      chatDependencies({ store, model }),
      chatDependencies({ store, model }),
    ];
    const send = request(randomUUID(), 'Hello');

    const one = await sendMessage(first, send);
    const two = await sendMessage(second, send);
    open();

    expect((await two.result).turn.contents.map(contentText)).toEqual(['Shared.']);
    expect(textOf(await collect(two.frames()))).toBe('Shared.');
    await one.result;
    expect(requests).toHaveLength(1);
  });

  test('a message id sent after its answer replays the stored one without a model call', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Once.'));
    const dependencies = chatDependencies({ model });
    const send = request(randomUUID(), 'Hello');
    await (
      await sendMessage(dependencies, send)
    ).result;

    const again = await sendMessage(dependencies, send);

    expect(again.replayed).toBe(true);
    expect(textOf(await collect(again.frames()))).toBe('Once.');
    expect(requests).toHaveLength(1);
  });

  test('a message id sent with another body is refused', async () => {
    const dependencies = chatDependencies();
    const [conversationId, messageId] = [randomUUID(), randomUUID()];
    await (
      await sendMessage(dependencies, request(conversationId, 'Hello', messageId))
    ).result;

    const other = sendMessage(dependencies, request(conversationId, 'Bye', messageId));

    await expect(other).rejects.toMatchObject({ reason: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('a message id is retried in the same turn after a retryable failure', async () => {
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer({ error: overloaded() }, textAnswer('Second.'));
    const dependencies = chatDependencies({ model, clock });
    const send = request(randomUUID(), 'Hello');
    await expect((await sendMessage(dependencies, send)).result).rejects.toMatchObject({
      reason: 'MODEL_OVERLOADED',
      retryAfterMs: 1_000,
    });

    clock.advance(1_000);
    const { turn } = await (await sendMessage(dependencies, send)).result;

    expect(turn).toMatchObject({ seq: 1, attempt: 2, state: 'done' });
    expect(requests).toHaveLength(2);
  });

  test('a message id sent before the model’s retry time spends no attempt', async () => {
    const clock = createManualClock();
    const error = new AppError({ ...quotaError, retryAfterMs: 90_000 });
    const { model, requests } = scriptedStreamer({ error }, textAnswer('At last.'));
    const dependencies = chatDependencies({ model, clock });
    const send = request(randomUUID(), 'Hello');
    await expect((await sendMessage(dependencies, send)).result).rejects.toBeDefined();

    clock.advance(30_000);
    for (let i = 0; i < 5; i++)
      await expect(sendMessage(dependencies, send)).rejects.toMatchObject({
        reason: 'MODEL_QUOTA',
        retryable: true,
        retryAfterMs: 60_000,
      });
    clock.advance(60_000);

    expect((await (await sendMessage(dependencies, send)).result).turn.attempt).toBe(2);
    expect(requests).toHaveLength(2);
  });

  test.each(['57600s', '9223372036854775807s', `${'9'.repeat(400)}s`])(
    'a message id is answered ten minutes after a model that asks to wait for %s',
    async (retryDelay) => {
      const clock = createManualClock();
      const body = { error: { code: 429, details: [{ retryDelay }] } };
      const refusal = Object.assign(new Error(JSON.stringify(body)), {
        name: 'ApiError',
        status: 429,
      });
      const call = { operation: 'stream', model: 'gemini', promptId: 't_1' } as const;
      const error = translateError(call, refusal);
      const { model } = scriptedStreamer({ error }, textAnswer('At last.'));
      const dependencies = chatDependencies({ model, clock });
      const send = request(randomUUID(), 'Hello');
      const failure: unknown = await (
        await sendMessage(dependencies, send)
      ).result.catch((caught: unknown) => caught);

      expect(errorReply(failure, undefined).headers).toMatchObject({ 'retry-after': '600' });
      expect(openAiErrorReply(failure, undefined).headers).toMatchObject({ 'retry-after': '600' });
      clock.advance(599_999);
      await expect(sendMessage(dependencies, send)).rejects.toMatchObject({ retryAfterMs: 1 });
      clock.advance(1);
      expect((await (await sendMessage(dependencies, send)).result).turn.state).toBe('done');
    },
  );

  test('a message id is taken over when the answering instance has died', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const send = request(randomUUID(), 'Hello');
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: (point) =>
        point === 'turn-reserved' ? Promise.resolve() : new Promise(() => undefined),
    });
    await sendMessage(dead, send);
    clock.advance(20_001);

    const alive = chatDependencies({ store, clock });
    const { turn } = await (await sendMessage(alive, send)).result;

    expect(turn).toMatchObject({ seq: 1, attempt: 2, state: 'done' });
  });

  test('a message id whose instance has died is taken over by one of five that ask at once', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer(textAnswer('Once.'));
    const send = request(randomUUID(), 'Hello');
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: (point) =>
        point === 'turn-reserved' ? Promise.resolve() : new Promise(() => undefined),
    });
    await sendMessage(dead, send);
    clock.advance(20_001);

    const handles = await Promise.all(
      Array.from({ length: 5 }, () => sendMessage(chatDependencies({ store, clock, model }), send)),
    );
    const results = await Promise.all(handles.map(({ result }) => result));

    expect(requests).toHaveLength(1);
    expect(results.map(({ turn }) => turn.attempt)).toEqual([2, 2, 2, 2, 2]);
  });
});
