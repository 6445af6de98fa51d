import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChatDependencies } from '../../functions/src/chat/chat-dependencies.ts';
import { sendMessage } from '../../functions/src/chat/send-message.ts';
import type { SendRequest } from '../../functions/src/chat/send-request.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { contentText } from '../../shared/conversation/content.ts';
import { headPath, statusPath } from '../../shared/conversation/paths.ts';
import { readHead, readTurns } from '../../shared/conversation/read-conversation.ts';
import { AppError, StoreUnavailableError } from '../../shared/errors.ts';
import type { StreamFrame } from '../../shared/wire/stream.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { createMemoryCache } from '../../functions/src/adapters/memory-cache.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { buildConversation } from '../support/conversation-builder.ts';

const request = (conversationId: string, text: string, id: string = randomUUID()): SendRequest => ({
  caller: { uid: 'u1', isAnonymous: false },
  conversationId,
  message: { id, parts: [{ text }] },
});

async function collect(frames: AsyncIterable<StreamFrame>) {
  const all: StreamFrame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

const textOf = (frames: readonly StreamFrame[]) =>
  frames.map(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');

async function sendAll(dependencies: ChatDependencies, conversationId: string, texts: string[]) {
  for (const text of texts)
    await (
      await sendMessage(dependencies, request(conversationId, text))
    ).result;
}

const overloaded = new AppError({
  status: 'UNAVAILABLE',
  reason: 'MODEL_OVERLOADED',
  message: 'overloaded',
  publicMessage: 'The model is overloaded.',
  retryable: true,
});

const quotaError = {
  status: 'RESOURCE_EXHAUSTED',
  reason: 'MODEL_QUOTA',
  message: 'quota',
  publicMessage: 'The model is at its limit.',
  retryable: true,
} as const;

describe('a message', () => {
  test('creates the conversation, is answered, and both stand in the transcript', async () => {
    const dependencies = chatDependencies();
    const id = randomUUID();

    const handle = await sendMessage(dependencies, request(id, 'Hello'));
    const { turn } = await handle.result;

    expect(turn.state).toBe('done');
    const [stored] = await readTurns(dependencies.store, id, [1]);
    expect(stored?.value.user.parts).toEqual([{ text: 'Hello' }]);
    expect(stored?.value.contents.map(contentText)).toEqual(['Fine.']);
  });

  test('is durable before the model is called', async () => {
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

  test('streams frames with ids that rise by one, from start to finish', async () => {
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

  test('is sent to the model behind everything that was said before', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('A1'), textAnswer('A2'));
    const dependencies = chatDependencies({ model });

    await sendAll(dependencies, randomUUID(), ['Q1', 'Q2']);

    expect(requests[1]?.contents.map((content) => [content.role, contentText(content)])).toEqual([
      ['user', 'Q1'],
      ['model', 'A1'],
      ['user', 'Q2'],
    ]);
  });

  test('keeps raw parts, signatures and unknown fields included, and sends them back', async () => {
    const part = { text: 'A1', thoughtSignature: 'sig', extra: { a: [[1]] } };
    const { model, requests } = scriptedStreamer({
      chunks: [{ parts: [part], finishReason: 'STOP' }],
    });

    await sendAll(chatDependencies({ model }), randomUUID(), ['Q1', 'Q2']);

    expect(requests[1]?.contents[1]?.parts).toEqual([part]);
  });
});

describe('the same message id', () => {
  test('sent twenty times at once is one turn and one model call, and all get the answer', async () => {
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
    expect((await readHead(dependencies.store, id))?.value.lastSeq).toBe(1);
  });

  test('sent to another instance while the first answers waits for that answer', async () => {
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

  test('after the answer replays what is stored, without a model call', async () => {
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

  test('with another body is refused', async () => {
    const dependencies = chatDependencies();
    const [conversationId, messageId] = [randomUUID(), randomUUID()];
    await (
      await sendMessage(dependencies, request(conversationId, 'Hello', messageId))
    ).result;

    const other = sendMessage(dependencies, request(conversationId, 'Bye', messageId));

    await expect(other).rejects.toMatchObject({ reason: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('after a retryable failure is tried again in the same turn', async () => {
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer({ error: overloaded }, textAnswer('Second.'));
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

  test('before the time that the model asked for spends no attempt and says how long to wait', async () => {
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

  test('is taken over when the instance that answered has died', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const send = request(randomUUID(), 'Hello');
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: () => new Promise(() => undefined),
    });
    await sendMessage(dead, send);
    clock.advance(20_001);

    const alive = chatDependencies({ store, clock });
    const { turn } = await (await sendMessage(alive, send)).result;

    expect(turn).toMatchObject({ seq: 1, attempt: 2, state: 'done' });
  });
});

describe('other messages of the conversation', () => {
  test('are refused while one is being answered, with a time to come back', async () => {
    const gate = new Promise<void>(() => undefined);
    const dependencies = chatDependencies({ model: scriptedStreamer({ gate }).model });
    const id = randomUUID();
    await sendMessage(dependencies, request(id, 'first'));

    await expect(sendMessage(dependencies, request(id, 'second'))).rejects.toMatchObject({
      reason: 'TURN_IN_PROGRESS',
      retryAfterMs: expect.any(Number),
    });
  });

  test('from twenty clients that come back as told all stand in the transcript, seq dense', async () => {
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

  test('close a turn that was abandoned and keep its user message', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const id = randomUUID();
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: () => new Promise(() => undefined),
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

describe('an instance that comes back after its turn was closed', () => {
  /** A stalls in mid-answer; B closes its turn and answers the next message; then A goes on. */
  async function closedMeanwhile() {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const id = randomUUID();
    const gate = Promise.withResolvers<void>();
    const slow = scriptedStreamer({ ...textAnswer('Too late.'), gate: gate.promise });
    const first = await sendMessage(
      chatDependencies({ store, clock: { ...clock, wait: () => gate.promise }, model: slow.model }),
      request(id, 'first'),
    );
    clock.advance(20_001);
    const open = Promise.withResolvers<void>();
    const busy = scriptedStreamer({ ...textAnswer('Second.'), gate: open.promise });
    const second = await sendMessage(
      chatDependencies({ store, clock, model: busy.model }),
      request(id, 'second'),
    );
    gate.resolve();
    await expect(first.result).rejects.toMatchObject({ reason: 'TURN_TAKEN_OVER' });
    return { store, id, open, second };
  }

  test('does not answer it after all', async () => {
    const { store, id, open, second } = await closedMeanwhile();
    open.resolve();
    await second.result;

    const [turn] = await readTurns(store, id, [1]);
    expect(turn?.value).toMatchObject({ state: 'failed', inContext: false, contents: [] });
  });

  test('leaves the turn that is open now open', async () => {
    const { store, id, open, second } = await closedMeanwhile();

    expect((await readHead(store, id))?.value.open?.seq).toBe(2);
    open.resolve();
    expect((await second.result).turn.state).toBe('done');
  });
});

describe('a turn that ends badly', () => {
  test.each([
    ['a model error', { error: overloaded }, 'MODEL_OVERLOADED'],
    ['no text at all', { chunks: [{ parts: [], finishReason: 'STOP' }] }, 'MODEL_EMPTY_ANSWER'],
  ])('by %s is stored as failed and stays out of the context', async (_, answer, reason) => {
    const { model, requests } = scriptedStreamer(answer, textAnswer('ok'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();

    const handle = await sendMessage(dependencies, request(id, 'bad'));
    const frames = await collect(handle.frames());
    await expect(handle.result).rejects.toMatchObject({ reason });

    expect(frames.at(-1)?.chunk).toMatchObject({ type: 'finish', finishReason: 'error' });
    await sendAll(dependencies, id, ['good']);
    expect(requests[1]?.contents.map(contentText)).toEqual(['good']);
  });

  test.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT'])(
    'by a %s block is told as content-filter and never poisons a later call',
    async (finishReason) => {
      const blocked = { chunks: [{ parts: [], finishReason }] };
      const { model, requests } = scriptedStreamer(blocked, textAnswer('ok'));
      const dependencies = chatDependencies({ model });
      const id = randomUUID();

      const frames = await collect((await sendMessage(dependencies, request(id, 'bad'))).frames());
      await sendAll(dependencies, id, ['good']);

      expect(frames.at(-1)?.chunk).toMatchObject({ finishReason: 'content-filter' });
      expect(requests[1]?.contents.map(contentText)).toEqual(['good']);
    },
  );

  test('and is answered by another instance is in the context of the first one too', async () => {
    const store = createMemoryDocumentStore();
    const cache = createMemoryCache({ maxBytes: 1_000_000 });
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer({ error: overloaded }, textAnswer('third'));
    const first = chatDependencies({ store, cache, clock, model });
    const other = scriptedStreamer(textAnswer('A1')).model;
    const second = chatDependencies({ store, clock, model: other });
    const id = randomUUID();
    const retried = request(id, 'Q1');
    await expect((await sendMessage(first, retried)).result).rejects.toBeInstanceOf(AppError);
    clock.advance(1_000);
    await (
      await sendMessage(second, retried)
    ).result;

    await sendAll(first, id, ['Q2']);

    expect(requests[1]?.contents.map(contentText)).toEqual(['Q1', 'A1', 'Q2']);
  });

  test('three times is told for good, so that no client sends it for ever', async () => {
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer({ error: overloaded });
    const dependencies = chatDependencies({ model, clock });
    const send = request(randomUUID(), 'Hello');
    for (let i = 0; i < 3; i++) {
      await expect((await sendMessage(dependencies, send)).result).rejects.toMatchObject({
        retryable: true,
      });
      clock.advance(1_000);
    }

    const replay = (await sendMessage(dependencies, send)).result;

    await expect(replay).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_OVERLOADED',
      retryable: false,
    });
    expect(requests).toHaveLength(3);
  });

  test('because the model found the prompt too long asks for a compaction', async () => {
    const error = new AppError({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_CONTEXT_OVERFLOW',
      message: 'too long',
      publicMessage: 'too long',
    });
    const dependencies = chatDependencies({ model: scriptedStreamer({ error }).model });
    const id = randomUUID();

    await expect((await sendMessage(dependencies, request(id, 'x'))).result).rejects.toBeDefined();

    const head = await readHead(dependencies.store, id);
    expect(head?.value.compactionNeeded.auto?.trigger).toBe('overflow');
    expect(dependencies.published).toHaveLength(1);
  });

  test('by a lost reply of its finish is finished once', async () => {
    let commits = 0;
    const store = createMemoryDocumentStore({
      afterCommit: () => {
        commits += 1;
        return commits === 2
          ? Promise.reject(new StoreUnavailableError({ operation: 'commit' }))
          : Promise.resolve();
      },
    });
    const id = randomUUID();

    const { turn } = await (
      await sendMessage(chatDependencies({ store }), request(id, 'Hello'))
    ).result;

    expect(turn.state).toBe('done');
    expect(commits).toBe(2);
  });

  test('by a lost reply of its start is answered once', async () => {
    let commits = 0;
    const { model, requests } = scriptedStreamer(textAnswer('Once.'));
    const store = createMemoryDocumentStore({
      afterCommit: () => {
        commits += 1;
        return commits === 1
          ? Promise.reject(new StoreUnavailableError({ operation: 'commit' }))
          : Promise.resolve();
      },
    });

    const { turn } = await (
      await sendMessage(chatDependencies({ store, model }), request(randomUUID(), 'Hello'))
    ).result;

    expect(turn).toMatchObject({ seq: 1, state: 'done' });
    expect(requests).toHaveLength(1);
  });
});

test('an image is counted as the model’s family counts it', async () => {
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

describe('the threshold', () => {
  const usage = (promptTokens: number) => ({
    promptTokens,
    cachedTokens: 0,
    outputTokens: 10,
    thoughtsTokens: 0,
  });

  test('when reached leaves a need in the head with the finish and publishes it once', async () => {
    const dependencies = chatDependencies(
      { model: scriptedStreamer(textAnswer('A', usage(990))).model },
      { THRESHOLD_TOKENS: '1000' },
    );
    const id = randomUUID();

    await sendAll(dependencies, id, ['a', 'b']);

    const need = (await readHead(dependencies.store, id))?.value.compactionNeeded.auto;
    expect(need).toMatchObject({ trigger: 'auto' });
    expect(dependencies.published).toEqual([
      {
        topic: 'compaction',
        data: { schemaVersion: 1, conversationId: id, requestId: need?.requestId },
      },
    ]);
  });

  test('when reached tells the owner’s devices through the status document', async () => {
    const dependencies = chatDependencies(
      { model: scriptedStreamer(textAnswer('A', usage(990))).model },
      { THRESHOLD_TOKENS: '1000' },
    );
    const id = randomUUID();

    await sendAll(dependencies, id, ['a']);

    const [status] = await dependencies.store.get([statusPath(id)]);
    expect(status?.fields).toMatchObject({
      tokens: 1_000,
      thresholdTokens: 1_000,
      compaction: { state: 'QUEUED', trigger: 'auto' },
    });
  });

  test('when not reached asks for nothing', async () => {
    const dependencies = chatDependencies(
      { model: scriptedStreamer(textAnswer('A', usage(989))).model },
      { THRESHOLD_TOKENS: '1000' },
    );
    const id = randomUUID();

    await sendAll(dependencies, id, ['a']);

    expect((await readHead(dependencies.store, id))?.value.compactionNeeded).toEqual({});
    expect(dependencies.published).toEqual([]);
  });

  test('keeps its need when the bus is down, and the user is not told of it', async () => {
    const dependencies = chatDependencies(
      {
        model: scriptedStreamer(textAnswer('A', usage(5_000))).model,
        publisher: { publish: () => Promise.reject(new Error('bus down')) },
      },
      { THRESHOLD_TOKENS: '1000' },
    );
    const id = randomUUID();

    await sendAll(dependencies, id, ['a']);

    expect((await readHead(dependencies.store, id))?.value.compactionNeeded.auto).toBeDefined();
  });
});

describe('a message that cannot fit', () => {
  test('is refused with both figures before anything is written', async () => {
    const dependencies = chatDependencies({}, { MODEL_WINDOWS: '{"gemini-3.5-flash":1000}' });
    const id = randomUUID();

    const sent = sendMessage(dependencies, request(id, 'word '.repeat(5_000)));

    await expect(sent).rejects.toMatchObject({
      reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
      metadata: { estimatedRequestTokenCount: '5000', remainingTokenCount: '1000' },
    });
    expect(await dependencies.store.get([headPath(id)])).toEqual([undefined]);
  });

  test('publishes a need again that nobody has settled for a minute', async () => {
    const clock = createManualClock();
    const dependencies = chatDependencies(
      { clock },
      { MODEL_WINDOWS: '{"gemini-3.5-flash":1000}' },
    );
    const id = randomUUID();
    await sendAll(dependencies, id, ['hello']);
    const refused = () => sendMessage(dependencies, request(id, 'word '.repeat(5_000)));
    await expect(refused()).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    dependencies.published.length = 0;

    await expect(refused()).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    expect(dependencies.published).toHaveLength(0);
    clock.advance(60_001);
    await expect(refused()).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });

    expect(dependencies.published).toMatchObject([
      { topic: 'compaction', data: { conversationId: id } },
    ]);
  });

  test('promises no compaction where compaction is off', async () => {
    const dependencies = chatDependencies({}, { MODEL_WINDOWS: '{"gemini-3.5-flash":1000}' });
    const { conversationId } = await buildConversation(dependencies.store, {
      turns: 1,
      head: { model: 'gemini-3.5-flash', settings: { compaction: 'off' } },
    });

    const sent = sendMessage(dependencies, request(conversationId, 'word '.repeat(5_000)));

    await expect(sent).rejects.toMatchObject({
      publicMessage: expect.not.stringContaining('being compacted'),
    });
  });

  test('asks for a compaction when there is something to compact', async () => {
    const dependencies = chatDependencies({}, { MODEL_WINDOWS: '{"gemini-3.5-flash":1000}' });
    const id = randomUUID();
    await sendAll(dependencies, id, ['hello']);

    const sent = sendMessage(dependencies, request(id, 'word '.repeat(5_000)));

    await expect(sent).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    const head = await readHead(dependencies.store, id);
    expect(head?.value.compactionNeeded.auto?.trigger).toBe('overflow');
    expect(head?.value.lastSeq).toBe(1);
  });
});
