import { randomUUID } from 'node:crypto';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText, type Part } from '#shared/conversation/documents/content.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { describe, expect, test } from 'vitest';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { AppError, StoreUnavailableError } from '#shared/errors.ts';
import { answerView } from '#shared/wire/resources/messages.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { overloaded } from '#test/support/model-down.ts';
import { collect, request, sendAll } from '#test/support/chat/sending.ts';

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

  test('an instance returning to a closed turn leaves the open turn alone', async () => {
    const { store, id, open, second } = await closedMeanwhile();

    expect((await readConversation(store, id))?.value.open?.seq).toBe(2);
    open.resolve();
    expect((await second.result).turn.state).toBe('done');
  });
});

const said = (...parts: Part[]) => ({
  chunks: [...parts.map((part) => ({ parts: [part] })), { parts: [], finishReason: 'STOP' }],
});

describe('a turn that ends badly', () => {
  test.each([
    ['a model error', { error: overloaded() }, 'MODEL_OVERLOADED'],
    ['no text at all', { chunks: [{ parts: [], finishReason: 'STOP' }] }, 'MODEL_EMPTY_ANSWER'],
    ['a line break alone', said({ text: '\n' }), 'MODEL_EMPTY_ANSWER'],
    [
      'blanks that nobody sees',
      said({ text: ' \u00a0\u3000\u200b' }, { text: '\ufeff\u2800', thoughtSignature: 'c2ln' }),
      'MODEL_EMPTY_ANSWER',
    ],
    ['a thought alone', said({ text: 'Hm.', thought: true }), 'MODEL_EMPTY_ANSWER'],
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

  test.each([
    'SAFETY',
    'RECITATION',
    'PROHIBITED_CONTENT',
    'MODEL_ARMOR',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'IMAGE_RECITATION',
  ])(
    'a turn ended by a %s block is content-filter and stays out of later calls',
    async (finishReason) => {
      const blocked = { chunks: [{ parts: [{ text: 'Part of it' }], finishReason }] };
      const { model, requests } = scriptedStreamer(blocked, textAnswer('ok'));
      const dependencies = chatDependencies({ model });
      const id = randomUUID();

      const frames = await collect((await sendMessage(dependencies, request(id, 'bad'))).frames());
      await sendAll(dependencies, id, ['good']);

      expect(frames.at(-1)?.chunk).toMatchObject({ finishReason: 'content-filter' });
      expect(requests[1]?.contents.map(contentText)).toEqual(['good']);
    },
  );

  test('a failed turn answered by another instance is in the first one’s context too', async () => {
    const store = createMemoryDocumentStore();
    const cache = createMemoryCache({ maxBytes: 1_000_000 });
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer({ error: overloaded() }, textAnswer('third'));
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

  test('a turn that failed three times rests a minute and is answered when resent', async () => {
    const clock = createManualClock();
    const failures = Array.from({ length: 3 }, () => ({ error: overloaded() }));
    const { model, requests } = scriptedStreamer(...failures, textAnswer('At last.'));
    const dependencies = chatDependencies({ model, clock });
    const send = request(randomUUID(), 'Hello');
    for (let i = 0; i < 3; i++) {
      await expect((await sendMessage(dependencies, send)).result).rejects.toMatchObject({
        retryable: true,
      });
      clock.advance(1_000);
    }

    await expect(sendMessage(dependencies, send)).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      reason: 'MODEL_OVERLOADED',
      retryable: true,
      retryAfterMs: 59_000,
    });
    expect(requests).toHaveLength(3);
    clock.advance(59_000);
    const { turn } = await (await sendMessage(dependencies, send)).result;

    expect(turn).toMatchObject({ seq: 1, attempt: 4, state: 'done' });
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

  test('a turn with a lost reply of its finish is finished once', async () => {
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

  test('a turn with a lost reply of its start is answered once', async () => {
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
