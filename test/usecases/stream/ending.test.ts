import { endOnSignal } from '#functions/bootstrap/end-on-signal.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { drainChat } from '#functions/chat/drain.ts';
import { sseText } from '#functions/chat/http/sse.ts';
import { ANSWER_MAX_BYTES } from '#functions/chat/turns/answer/stream-answer.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/models/content.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { answered, collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  pass,
  sayEach,
  settle,
  steeredChat,
  storedTurn,
  openStream,
} from '#test/support/chat/streaming.ts';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';

/** Reads until `isEnough`, and leaves. */
async function readUntil(
  frames: AsyncIterable<StreamFrame>,
  isEnough: (read: readonly StreamFrame[]) => boolean,
): Promise<StreamFrame[]> {
  const read: StreamFrame[] = [];
  for await (const frame of frames) {
    read.push(frame);
    if (isEnough(read)) break;
  }
  return read;
}

const noRequests: ReadonlySet<Promise<unknown>> = new Set();

/** An instance in mid-answer that has been told to end. */
async function ending() {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const shutdown = new AbortController();
  const chat = steeredChat({ clock, store, shutdown: shutdown.signal });
  const conversationId = randomUUID();
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const call = await chat.call();
  await sayEach(clock, call, ['Half an ', 'answer']);
  shutdown.abort();
  return { ...chat, clock, store, conversationId, send, handle, call };
}

test('an ending instance refuses new messages with a retry time', async () => {
  const { dependencies } = await ending();

  await expect(sendMessage(dependencies, request(randomUUID(), 'New.'))).rejects.toMatchObject({
    status: 'UNAVAILABLE',
    reason: 'SHUTTING_DOWN',
    retryAfterMs: expect.any(Number),
  });
});

test('an ending instance lets a running answer finish', async () => {
  const { dependencies, clock, call, handle } = await ending();

  const drained = drainChat(dependencies, noRequests);
  await pass(clock, 5_000, 500);
  call.say(' and the rest');
  call.end();
  await drained;

  expect((await handle.result).turn.state).toBe('done');
});

test('an ending instance gives up running answers after DRAIN_MS, storing frames and releasing leases', async () => {
  const { dependencies, clock, call, handle, conversationId } = await ending();

  const drained = drainChat(dependencies, noRequests);
  await pass(clock, 8_000, 500);
  await drained;

  await expect(handle.result).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
  expect(call.signal.aborted).toBe(true);
  const turn = await storedTurn(dependencies, conversationId);
  expect(turn).toMatchObject({ state: 'running', attempt: 1 });
  expect(turn.leaseUntil.getTime()).toBeLessThanOrEqual(clock.now().getTime());
});

test('an ending instance cuts its readers without finish and [DONE], so that they reconnect', async () => {
  const { dependencies, clock, handle } = await ending();
  const { signal: left } = new AbortController();
  const options = { clock, heartbeatMs: 60_000, generation: 0, left };
  const pieces: string[] = [];
  const read = (async () => {
    for await (const text of sseText(handle.frames(), options)) pieces.push(text);
  })();
  read.catch(() => undefined);

  const drained = drainChat(dependencies, noRequests);
  await pass(clock, 8_000, 500);
  await drained;
  await expect(read).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });

  expect(pieces.join('')).toContain('"delta":"answer"');
  expect(pieces.join('')).not.toMatch(/text-end|finish|error|DONE/);
});

test('an ending instance leaves a turn that a reader with a cursor takes over at once', async () => {
  const { dependencies, clock, store, send } = await ending();
  const drained = drainChat(dependencies, noRequests);
  await pass(clock, 8_000, 500);
  await drained;
  const { model } = scriptedStreamer(textAnswer('Anew.'));

  const other = chatDependencies({ store, clock, model });
  const handle = await sendMessage(other, { ...send, cursor: 3 });

  const frames = await collect(handle.frames());
  expect(frames[0]?.id).toBe(1_000_000);
  expect(textOf(frames)).toBe('Anew.');
  expect((await handle.result).turn).toMatchObject({ attempt: 2, state: 'done' });
});

describe('SIGTERM', () => {
  class FakeProcess extends EventEmitter {
    exits: number[] = [];
    exit(code: number) {
      this.exits.push(code);
    }
  }

  test('SIGTERM ends the process with code 0, once and after draining', async () => {
    const process = new FakeProcess();
    const gate = Promise.withResolvers<void>();
    let drains = 0;
    endOnSignal(process, () => {
      drains += 1;
      return gate.promise;
    });

    process.emit('SIGTERM');
    process.emit('SIGTERM');
    await settle();
    expect(process.exits).toEqual([]);
    gate.resolve();
    await settle();

    expect(process.exits).toEqual([0]);
    expect(drains).toBe(1);
  });

  test('SIGTERM ends the process also when draining fails', async () => {
    const process = new FakeProcess();
    endOnSignal(process, () => Promise.reject(new Error('no')));

    process.emit('SIGTERM');
    await settle();

    expect(process.exits).toEqual([0]);
  });
});

/** A clock that knows how many waits are open. */
function countingClock() {
  const clock = createManualClock();
  let open = 0;
  const counting: ManualClock = {
    ...clock,
    wait: async (ms, signal) => {
      open += 1;
      await clock.wait(ms, signal);
      open -= 1;
    },
  };
  return { clock: counting, open: () => open };
}

test.each(['is answered', 'fails', 'is cancelled'])(
  'no timer outlives a turn that %s',
  async (how) => {
    const { clock, open } = countingClock();
    const conversationId = randomUUID();
    const { dependencies, call } = steeredChat({ clock });
    const handle = await sendMessage(dependencies, request(conversationId, 'x'));
    const model = await call();
    await sayEach(clock, model, ['One ', 'two']);
    expect(open()).toBeGreaterThan(0);

    if (how === 'is answered') model.end();
    if (how === 'fails') model.fail(new Error('no'));
    if (how === 'is cancelled') {
      const caller = { uid: 'u1', tier: 'signedIn' } as const;
      await cancelTurn(dependencies, { caller, conversationId, turnId: 't_1' });
    }
    await handle.result.catch(() => undefined);
    await settle();

    expect(open()).toBe(0);
  },
);

test('an answer over its time limit is a retryable failure', async () => {
  const clock = createManualClock();
  const { dependencies, call } = steeredChat({ clock });
  const handle = await sendMessage(dependencies, request(randomUUID(), 'x'));
  const model = await call();

  await pass(clock, 299_000, 1_000);
  expect(model.signal.aborted).toBe(false);
  await pass(clock, 2_000, 1_000);

  await expect(handle.result).rejects.toMatchObject({ reason: 'MODEL_TIMEOUT', retryable: true });
  expect(model.signal.aborted).toBe(true);
}, 60_000);

test('an endless answer is ended as too long, and stored', async () => {
  const text = 'x'.repeat(256 * 1024);
  const { model } = scriptedStreamer({
    chunks: Array.from({ length: 20 }, () => ({ parts: [{ text }] })),
  });
  const dependencies = chatDependencies({ model });

  const turn = await answered(dependencies, request(randomUUID(), 'x'));

  expect(turn).toMatchObject({ state: 'done', finishReason: 'MAX_TOKENS' });
  const length = turn.contents.map(contentText).join('').length;
  expect(length).toBeGreaterThan(ANSWER_MAX_BYTES / 2);
  expect(length).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
});

/** A store that knows how many watches of it are open. */
function countingStore(store: DocumentStore) {
  let open = 0;
  const counting: DocumentStore = {
    ...store,
    async *watch(collection, signal) {
      open += 1;
      try {
        yield* store.watch(collection, signal);
      } finally {
        open -= 1;
      }
    },
  };
  return { store: counting, openWatches: () => open };
}

/** A turn that one instance answers, and another instance whose watches are counted. */
async function elsewhere(overrides: Partial<ChatDependencies> = {}) {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const conversationId = randomUUID();
  const chat = steeredChat({ clock, store });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const call = await chat.call();
  await sayEach(clock, call, ['Half an ', 'answer']);
  await pass(clock, 600);
  const { store: counted, openWatches } = countingStore(store);
  const other = chatDependencies({ clock, store: counted, ...overrides });
  return { ...chat, openWatches, clock, conversationId, send, handle, call, other };
}

/** Reads the text of a stream to its end, in the background. */
function reading(
  frames: AsyncIterable<StreamFrame>,
  {
    clock,
    left = new AbortController().signal,
  }: { clock: ChatDependencies['clock']; left?: AbortSignal },
) {
  const pieces: string[] = [];
  const end = (async () => {
    const options = { clock, heartbeatMs: 8_000, generation: 0, left };
    for await (const text of sseText(frames, options)) pieces.push(text);
  })();
  end.catch(() => undefined);
  return { pieces, end };
}

test.each([
  ['who only reads', false],
  ['who sent the same message', true],
])(
  'a reader of another instance %s is cut off without [DONE] when its instance ends',
  async (_, isSender) => {
    const shutdown = new AbortController();
    const { other, conversationId, send, clock, openWatches } = await elsewhere({
      shutdown: shutdown.signal,
    });
    const frames = isSender
      ? (await sendMessage(other, send)).frames()
      : await openStream(other, { conversationId });
    const { pieces, end } = reading(frames, { clock });
    await settle();

    shutdown.abort();
    await expect(end).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
    await settle();

    expect(pieces.join('')).toContain('answer');
    expect(pieces.join('')).not.toMatch(/finish|error|DONE/);
    expect(openWatches()).toBe(0);
  },
);

test('a reader whose own instance ends loses nothing and continues elsewhere', async () => {
  const shutdown = new AbortController();
  const { other, conversationId, clock, call, handle, dependencies } = await elsewhere({
    shutdown: shutdown.signal,
  });
  const frames = await openStream(other, { conversationId, cursor: 1 });
  const read: StreamFrame[] = [];
  const cut = (async () => {
    for await (const frame of frames) read.push(frame);
  })();
  cut.catch(() => undefined);
  await settle();
  shutdown.abort();
  await expect(cut).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
  call.say(' and the rest');
  call.end();
  await pass(clock, 100);
  await handle.result;

  const rest = await openStream(dependencies, { conversationId, cursor: read.at(-1)?.id });

  const late = await readUntil(rest, () => false);
  expect(textOf([...read, ...late])).toBe('Half an answer and the rest');
});
