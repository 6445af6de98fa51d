import { randomUUID } from 'node:crypto';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { describe, expect, test } from 'vitest';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { collect, request, sendAll, textOf } from '#test/support/chat/sending.ts';

describe('a message', () => {
  test('a message creates the conversation, is answered, and both are in the transcript', async () => {
    const dependencies = chatDependencies();
    const id = randomUUID();

    const handle = await sendMessage(dependencies, request(id, 'Hello'));
    const { turn } = await handle.result;

    expect(turn.state).toBe('done');
    const [stored] = await readTurns(dependencies.store, id, [1]);
    expect(stored?.value.user.parts).toEqual([{ text: 'Hello' }]);
    expect(stored?.value.contents.map(contentText)).toEqual(['Fine.']);
  });

  test('a message is durable before the model is called', async () => {
    const store = createMemoryDocumentStore();
    const id = randomUUID();
    const seen: unknown[] = [];
    const dependencies = chatDependencies({
      store,
      atCrashPoint: async (point) => {
        if (point === 'turn-started') seen.push(...(await readTurns(store, id, [1])));
      },
    });

    await (
      await sendMessage(dependencies, request(id, 'Hello'))
    ).result;

    expect(seen).toMatchObject([
      { value: { state: 'running', user: { parts: [{ text: 'Hello' }] } } },
    ]);
  });

  test('the model is prepared while a message is being stored', async () => {
    const memory = createMemoryDocumentStore();
    const prepared: string[] = [];
    let state = 'reading';
    const store = {
      ...memory,
      commit: async (writes: Parameters<typeof memory.commit>[0]) => {
        state = 'storing';
        const times = await memory.commit(writes);
        state = 'stored';
        return times;
      },
    };
    const model = {
      ...scriptedStreamer(textAnswer('Fine.')).model,
      prepare: () => void prepared.push(state),
    };

    await (
      await sendMessage(chatDependencies({ store, model }), request(randomUUID(), 'Hello'))
    ).result;

    expect(prepared).toEqual(['storing']);
  });

  test('a message streams frames with ids that rise by one, from start to finish', async () => {
    const model = scriptedStreamer({
      chunks: [
        { parts: [{ text: 'One ' }] },
        { parts: [{ text: 'two' }] },
        { parts: [{ text: ' three.' }], finishReason: 'STOP' },
      ],
    });
    const dependencies = chatDependencies({ model: model.model });

    const frames = await collect(
      (await sendMessage(dependencies, request(randomUUID(), 'x'))).frames(),
    );

    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, i) => i));
    expect(textOf(frames)).toBe('One two three.');
    expect(frames[0]?.chunk.type).toBe('start');
    expect(frames.at(-2)?.chunk.type).toBe('data-context');
    expect(frames.at(-1)?.chunk).toMatchObject({ type: 'finish', finishReason: 'stop' });
  });

  test('a message is sent to the model behind everything said before', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('A1'), textAnswer('A2'));
    const dependencies = chatDependencies({ model });

    await sendAll(dependencies, randomUUID(), ['Q1', 'Q2']);

    expect(requests[1]?.contents.map((content) => [content.role, contentText(content)])).toEqual([
      ['user', 'Q1'],
      ['model', 'A1'],
      ['user', 'Q2'],
    ]);
  });

  test('a message keeps raw parts, signatures and unknown fields, and sends them back', async () => {
    const part = { text: 'A1', thoughtSignature: 'sig', extra: { a: [[1]] } };
    const { model, requests } = scriptedStreamer({
      chunks: [{ parts: [part], finishReason: 'STOP' }],
    });

    await sendAll(chatDependencies({ model }), randomUUID(), ['Q1', 'Q2']);

    expect(requests[1]?.contents[1]?.parts).toEqual([part]);
  });
});

test('an image counts as the model’s family counts it', async () => {
  const dependencies = chatDependencies();
  const id = randomUUID();
  const image = { inlineData: { mimeType: 'image/png', data: 'aGk=' } };

  const send = { ...request(id, ''), message: { id: randomUUID(), parts: [image] } };
  await (
    await sendMessage(dependencies, send)
  ).result;

  const [turn] = await readTurns(dependencies.store, id, [1]);
  expect(turn?.value.tokens.user).toBe(1_090);
});

test('a long message and a long answer fit one turn document', async () => {
  const text = '"\n'.repeat(150_000);
  const dependencies = chatDependencies({ model: scriptedStreamer(textAnswer(text)).model });
  const id = randomUUID();

  await sendAll(dependencies, id, [text]);

  const [turn] = await readTurns(dependencies.store, id, [1]);
  expect(turn?.value.user.parts).toEqual([{ text }]);
  expect(turn?.value.contents.map(contentText)).toEqual([text]);
});

describe('other messages of the conversation', () => {
  test('further messages are refused while one is answered, with a retry time', async () => {
    const gate = new Promise<void>(() => undefined);
    const dependencies = chatDependencies({ model: scriptedStreamer({ gate }).model });
    const id = randomUUID();
    await sendMessage(dependencies, request(id, 'first'));

    await expect(sendMessage(dependencies, request(id, 'second'))).rejects.toMatchObject({
      reason: 'TURN_IN_PROGRESS',
      retryAfterMs: expect.any(Number),
    });
  });

  test('messages of twenty retrying clients are all in the transcript, seq dense', async () => {
    const dependencies = chatDependencies();
    const id = randomUUID();
    const persistent = async (text: string) => {
      const send = request(id, text);
      for (;;) {
        try {
          return await (
            await sendMessage(dependencies, send)
          ).result;
        } catch (error) {
          if (!(error instanceof AppError && error.retryable)) throw error;
          await new Promise(setImmediate);
        }
      }
    };

    const texts = Array.from({ length: 20 }, (_, i) => `message ${i}`);
    await Promise.all(texts.map(persistent));

    const turns = await readTurns(
      dependencies.store,
      id,
      texts.map((_, i) => i + 1),
    );
    expect(turns.map(({ value }) => contentText(value.user)).toSorted()).toEqual(texts.toSorted());
  });

  test('a further message closes an abandoned turn and keeps its user message', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const id = randomUUID();
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: (point) =>
        point === 'turn-reserved' ? Promise.resolve() : new Promise(() => undefined),
    });
    await sendMessage(dead, request(id, 'lost?'));
    clock.advance(20_001);

    const alive = chatDependencies({ store, clock });
    const { turn } = await (await sendMessage(alive, request(id, 'next'))).result;

    expect(turn.seq).toBe(2);
    const [abandoned] = await readTurns(store, id, [1]);
    expect(abandoned?.value).toMatchObject({
      state: 'failed',
      inContext: false,
      error: { reason: 'TURN_ABANDONED' },
    });
    expect(abandoned?.value.user.parts).toEqual([{ text: 'lost?' }]);
  });
});
