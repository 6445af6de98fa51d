import { EventEmitter } from 'node:events';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { drainChat } from '#functions/chat/drain.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { sseText } from '#functions/chat/http/sse.ts';
import { endOnSignal } from '#functions/bootstrap/framework.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { chunksCollection } from '#shared/conversation/documents/paths.ts';
import { decodeStreamChunk } from '#shared/conversation/documents/stream-chunk.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import { pass, sayEach, settle, steeredChat, storedTurn } from '#test/support/chat/streaming.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { ANSWER_MAX_BYTES } from '#functions/chat/turns/answer/stream-answer.ts';
import { contentText } from '#shared/conversation/documents/content.ts';

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

describe('an instance that is stopped', () => {
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

  test('an ending instance waits for requests being served', async () => {
    const clock = createManualClock();
    const served = Promise.withResolvers<void>();
    const requests = new Set<Promise<unknown>>([served.promise]);
    let isDrained = false;

    const drained = drainChat(chatDependencies({ clock }), requests).then(() => (isDrained = true));
    await settle();
    expect(isDrained).toBe(false);
    requests.clear();
    served.resolve();

    expect(await drained).toBe(true);
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
    const reading = (async () => {
      for await (const text of sseText(handle.frames(), options)) pieces.push(text);
    })();
    reading.catch(() => undefined);

    const drained = drainChat(dependencies, noRequests);
    await pass(clock, 8_000, 500);
    await drained;
    await expect(reading).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });

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

  test('an ending instance stores its answer’s text for other instances’ readers', async () => {
    const { dependencies, clock, store, send, call } = await ending();
    const drained = drainChat(dependencies, noRequests);
    await pass(clock, 7_900, 100);
    call.say(' at the last moment');
    await settle();
    await pass(clock, 500, 100);
    await drained;

    const { model } = scriptedStreamer(textAnswer('Anew.'));
    const other = chatDependencies({ store, clock, model });
    await (
      await sendMessage(other, send)
    ).result;
    const chunks = await store.query({
      collection: chunksCollection(send.conversationId, 1),
      where: [{ field: 'attempt', op: '==', value: 1 }],
      limit: 100,
    });
    expect(textOf(chunks.flatMap((chunk) => decodeStreamChunk(chunk).frames))).toBe(
      'Half an answer at the last moment',
    );
  });
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

  test('SIGTERM does not reach a listener that would exit at once', async () => {
    const process = new FakeProcess();
    endOnSignal(process, () => new Promise(() => undefined));
    let reached = 0;

    process.on('SIGTERM', () => (reached += 1));
    await settle();
    process.emit('SIGTERM');

    expect(reached).toBe(0);
    expect(process.listenerCount('SIGTERM')).toBe(1);
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

  const { turn } = await (await sendMessage(dependencies, request(randomUUID(), 'x'))).result;

  expect(turn).toMatchObject({ state: 'done', finishReason: 'MAX_TOKENS' });
  const length = turn.contents.map(contentText).join('').length;
  expect(length).toBeGreaterThan(ANSWER_MAX_BYTES / 2);
  expect(length).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
});
