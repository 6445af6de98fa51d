import { translateError } from '#functions/adapters/model-errors.ts';
import { openAiErrorReply } from '#functions/chat/facades/openai/error-reply.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns, readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText, type Part } from '#shared/models/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError, StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { errorReply } from '#shared/wire/errors/error-body.ts';
import { exportMessages } from '#shared/wire/resources/export.ts';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { answerView, userMessageView } from '#shared/wire/resources/messages.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  collect,
  request,
  sendAll,
  textOf,
  answered,
  turnsOf,
} from '#test/support/chat/sending.ts';
import {
  autoRequest,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';
import { foundIn } from '#test/support/compaction/verifying.ts';
import { overloaded } from '#test/support/model-down.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

/** The texts of a prompt, and of what a turn says. */
const textsOf = (contents: Parameters<typeof contentText>[0][]) => contents.map(contentText);

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

  await answered(dependencies, request(id, 'Hello'));

  expect(seen).toMatchObject([
    { value: { state: 'running', user: { parts: [{ text: 'Hello' }] } } },
  ]);
});

test('a message whose end was stored at the last try, though its reply was lost, is answered', async () => {
  const inner = createMemoryDocumentStore();
  const conversationId = randomUUID();
  let finishes = 0;
  const commit: DocumentStore['commit'] = async (writes) => {
    const isFinish = writes.some(
      (write) => write.op === 'update' && write.fields['state'] === 'done',
    );
    if (!isFinish) return inner.commit(writes);
    // Of five tries.
    if (++finishes === 5) await inner.commit(writes);
    throw new StoreUnavailableError({ operation: 'commit' });
  };
  const dependencies = chatDependencies({ store: { ...inner, commit } });

  const { turn } = await (await sendMessage(dependencies, request(conversationId, 'Hello'))).result;

  expect(turn.state).toBe('done');
  expect(finishes).toBe(5);
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

test('a message keeps raw parts, signatures and unknown fields, and sends them back', async () => {
  const part = { text: 'A1', thoughtSignature: 'sig', extra: { a: [[1]] } };
  const { model, requests } = scriptedStreamer({
    chunks: [{ parts: [part], finishReason: 'STOP' }],
  });

  await sendAll(chatDependencies({ model }), randomUUID(), ['Q1', 'Q2']);

  expect(requests[1]?.contents[1]?.parts).toEqual([part]);
});

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
    await answered(dependencies, send);

    const again = await sendMessage(dependencies, send);

    expect(again.replayed).toBe(true);
    expect(textOf(await collect(again.frames()))).toBe('Once.');
    expect(requests).toHaveLength(1);
  });

  test('a message id sent with another body is refused', async () => {
    const dependencies = chatDependencies();
    const [conversationId, messageId] = [randomUUID(), randomUUID()];
    await answered(dependencies, request(conversationId, 'Hello', messageId));

    const other = sendMessage(dependencies, request(conversationId, 'Bye', messageId));

    await expect(other).rejects.toMatchObject({ reason: 'IDEMPOTENCY_KEY_REUSED' });
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
      expect((await answered(dependencies, send)).state).toBe('done');
    },
  );

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

/** A message whose answer failed for now, and a later one that was answered; the wait for the first is over. */
async function failedBehindAnother() {
  const { model, requests } = scriptedStreamer(
    { error: overloaded() },
    textAnswer('Second.'),
    textAnswer('First, at last.'),
    textAnswer('Third.'),
  );
  const bench = compactionBench();
  const chat = chatDependencies({ store: bench.store, clock: bench.clock, model });
  const id = randomUUID();
  const asked = request(id, 'one');
  await expect((await sendMessage(chat, asked)).result).rejects.toMatchObject({ retryable: true });
  await answered(chat, request(id, 'two'));
  bench.clock.advance(1_000);
  return { bench, chat, id, asked, requests };
}

/** Adds turns and folds all but the newest. */
async function foldAll(bench: CompactionBench, id: string) {
  for (let seq = 3; seq < 23; seq++)
    await addTurn(bench.store, id, { user: madeUpQuestion(seq), answer: madeUpAnswer(seq) });
  const conversation = await readConversation(bench.store, id);
  const settings = { thresholdTokens: THRESHOLD_TOKENS };
  const fields = { compactionRequests: autoRequest(), settings };
  const guard = { updateTime: conversation?.updateTime ?? '' };
  await bench.store.commit([{ op: 'update', path: conversationPath(id), fields, guard }]);
  await compactOnce(bench, id);
}

describe('a message that failed for now, sent again when another stands behind it', () => {
  test('a failed message says why there is no answer to it', async () => {
    const { chat, id, asked } = await failedBehindAnother();

    const page = {
      caller: asked.caller,
      conversationId: id,
      pageSize: 10,
      order: 'asc',
      afterSeq: 0,
    } as const;
    const { messages } = await listMessages(chat, page);

    expect(messages.map(({ role, error }) => [role, error?.reason])).toEqual([
      ['user', 'MODEL_OVERLOADED'],
      ['user', undefined],
      ['model', undefined],
    ]);
    expect(messages[0]?.error).toMatchObject({ retryable: true, message: expect.any(String) });
  });

  test('a failed message resent after a later one is answered in its place', async () => {
    const { chat, id, asked, requests } = await failedBehindAnother();

    const again = await answered(chat, asked);

    expect(again).toMatchObject({ seq: 1, attempt: 2, state: 'done', inContext: true });
    expect(textsOf([...(requests[2]?.contents ?? [])])).toEqual(['one']);
    expect((await turnsOf(chat, id, 3)).map(({ state }) => state)).toEqual(['done', 'done']);
  });

  test('a resent message folded meanwhile is answered and stays out of the context', async () => {
    const { bench, chat, id, asked } = await failedBehindAnother();
    await foldAll(bench, id);
    const before = await see(bench.store, id);

    const again = await answered(chat, asked);

    const after = await see(bench.store, id);
    const [turn] = await turnsOf(chat, id, 1);
    expect(before.conversation.coveredThrough.seq).toBeGreaterThan(1);
    expect(again).toMatchObject({ seq: 1, state: 'done', inContext: false });
    expect(after.items).toEqual(before.items);
    expect(after.tokens).toBe(before.tokens);
    expect(turn && exportMessages(turn).map(({ fate }) => fate)).toEqual(['answered', 'answered']);
    expect(turn && userMessageView(turn).outOfContext).toEqual({ reason: 'late' });
    expect(turn && answerView(turn).outOfContext).toEqual({ reason: 'late' });
    expect(await foundIn({ store: bench.store, chat }, id)).toEqual([]);
  });
});

const call = { operation: 'stream', model: 'gemini-2.5-flash', promptId: 't_1' } as const;
test.each([
  ['a defect', new TypeError('a defect'), 2_000],
  [
    'missing credentials',
    translateError(call, new Error('Could not load the default credentials')),
    120_000,
  ],
])(
  'a message that failed without fault is answered when resent after %s',
  async (_name, error, waitMs) => {
    const { model } = scriptedStreamer({ error }, textAnswer('At last.'));
    const clock = createManualClock();
    const chat = chatDependencies({ clock, model });
    const asked = request(randomUUID(), 'one');
    await expect((await sendMessage(chat, asked)).result).rejects.toBeInstanceOf(AppError);
    clock.advance(waitMs);

    expect(await answered(chat, asked)).toMatchObject({ seq: 1, attempt: 2, state: 'done' });
  },
);

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
  await expect(first.result).rejects.toMatchObject({
    reason: 'TURN_IN_PROGRESS',
    retryable: true,
  });
  return { store, id, open, second };
}

test('an instance returning to a closed turn does not answer it beside another', async () => {
  const { store, id, open, second } = await closedMeanwhile();
  open.resolve();
  await second.result;

  const [turn] = await readTurns(store, id, [1]);
  expect(turn?.value).toMatchObject({
    state: 'failed',
    error: { reason: 'TURN_ABANDONED', retryable: true },
    inContext: false,
    contents: [],
  });
});

const said = (...parts: Part[]) => ({
  chunks: [...parts.map((part) => ({ parts: [part] })), { parts: [], finishReason: 'STOP' }],
});

describe('a turn that ends badly', () => {
  test.each([
    ['a model error', { error: overloaded() }, 'MODEL_OVERLOADED'],
    ['no text at all', { chunks: [{ parts: [], finishReason: 'STOP' }] }, 'MODEL_EMPTY_ANSWER'],
    [
      'blanks that nobody sees',
      said({ text: ' \u00a0\u3000\u200b' }, { text: '\ufeff\u2800', thoughtSignature: 'c2ln' }),
      'MODEL_EMPTY_ANSWER',
    ],
    [
      'a picture too large to store',
      said({ inlineData: { mimeType: 'image/png', data: 'A'.repeat(2_200_000) } }),
      'ANSWER_TOO_LARGE',
    ],
  ])(
    'a turn ended by %s is stored as failed and stays out of the context',
    async (_, answer, reason) => {
      const { model, requests } = scriptedStreamer(answer, textAnswer('ok'));
      const dependencies = chatDependencies({ model });
      const id = randomUUID();

      const handle = await sendMessage(dependencies, request(id, 'bad'));
      const frames = await collect(handle.frames());
      await expect(handle.result).rejects.toMatchObject({ reason });

      expect(frames.at(-1)?.chunk).toMatchObject({ type: 'finish', finishReason: 'error' });
      await sendAll(dependencies, id, ['good']);
      expect(requests[1]?.contents.map(contentText)).toEqual(['good']);
    },
  );

  test('a picture alone is an answer with a file, and the model sees it later', async () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
    const { model, requests } = scriptedStreamer(said(picture), textAnswer('ok'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();

    const { result } = await sendMessage(dependencies, request(id, 'Draw it.'));
    const { turn } = await result;
    await sendAll(dependencies, id, ['And now?']);

    expect(turn).toMatchObject({ state: 'done', finishReason: 'STOP' });
    expect(answerView(turn).parts).toEqual([
      { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    ]);
    expect(requests[1]?.contents[1]?.parts).toEqual([picture]);
  });

  test('a turn whose prompt the model found too long requests a compaction', async () => {
    const error = new AppError({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_CONTEXT_OVERFLOW',
      message: 'too long',
      publicMessage: 'too long',
    });
    const dependencies = chatDependencies({ model: scriptedStreamer({ error }).model });
    const id = randomUUID();

    await expect((await sendMessage(dependencies, request(id, 'x'))).result).rejects.toBeDefined();

    const conversation = await readConversation(dependencies.store, id);
    expect(conversation?.value.compactionRequests.auto?.trigger).toBe('overflow');
    expect(dependencies.published).toHaveLength(1);
  });
});
