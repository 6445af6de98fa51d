import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { streamChunkWrite } from '#shared/conversation/documents/stream-chunk.ts';
import { AppError } from '#shared/errors.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';
import { configOf } from '#test/support/chat/lifecycle.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import {
  neverAborted,
  type CompactionBench,
  addQueued,
  buildOpen,
  inSeconds,
  statesFrom,
  storedConversation,
  sweep,
  sweepBench,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  RESULT_TIMEOUT_MS,
  type ToolStage,
  createToolStage,
  responsesIn,
  say,
  useToolModel,
} from '#test/support/tools/tool-world.ts';
import { describe, expect, test } from 'vitest';

const chunk = (conversationId: string) =>
  streamChunkWrite({
    conversationId,
    seq: 3,
    attempt: 1,
    producer: 'gone',
    frames: [{ id: 0, chunk: { type: 'text-delta', id: 'p0', delta: 'Half an answer' } }],
    end: undefined,
    now: new Date(0),
  });

const setTurn = (bench: CompactionBench, conversationId: string, fields: DocumentFields) =>
  bench.store.commit([
    { op: 'update', path: turnPath(conversationId, 3), fields, guard: { exists: true } },
  ]);

describe('an open turn that nobody answers', () => {
  test('a sweep closes an unanswered open turn as failed, to be tried again, freeing the conversation', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const counts = await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(counts).toMatchObject({ turnsClosed: 1, failed: 0 });
    expect(turn?.value).toMatchObject({
      state: 'failed',
      error: { reason: 'TURN_ABANDONED', retryable: true },
      inContext: false,
    });
    expect((await storedConversation(bench, conversationId))?.open).toBeUndefined();
  });

  test('a sweep closes a turn as cancelled, with its text, when that was requested', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    await setTurn(bench, conversationId, { cancelRequested: true });
    await bench.store.commit([chunk(conversationId)]);

    await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(turn?.value).toMatchObject({ state: 'cancelled', inContext: true });
    expect(turn?.value.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test.each([
    ['failed', {}],
    ['cancelled', { cancelRequested: true }],
  ])('a turn closed by a sweep is reported as %s where notifications are on', async (...row) => {
    const [state, fields] = row;
    const bench = sweepBench({ config: configOf('ledger', { FCM_PROJECT: 'demo-recap' }) });
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    await setTurn(bench, conversationId, fields);

    await sweep(bench);

    const data = { type: 'turn.finished', conversationId, turnId: 't_3', state, isAttended: false };
    expect(bench.published).toMatchObject([{ topic: 'events', data }]);
  });

  test('a sweep leaves a turn whose lease is renewed, whatever the conversation document says', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -60));
    await setTurn(bench, conversationId, { leaseUntil: inSeconds(bench, 10) });

    const counts = await sweep(bench);

    expect(counts.turnsClosed).toBe(0);
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['running']);
    expect((await storedConversation(bench, conversationId))?.open?.seq).toBe(3);
  });

  test('a sweep leaves a turn taken over between its read and its commit', async () => {
    const taken: string[] = [];
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        if (operation.name !== 'commit' || taken.length > 0) return;
        if (!operation.writes.some(({ op, path }) => op === 'update' && path.includes('/turns/')))
          return;
        taken.push(conversationId);
        await setTurn(bench, conversationId, { leaseUntil: inSeconds(bench, 20), attempt: 2 });
      },
    });
    const bench = sweepBench({ store });
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const counts = await sweep(bench);

    expect(taken).toHaveLength(1);
    expect(counts).toMatchObject({ turnsClosed: 0, failed: 0 });
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['running']);
  });

  test('two parallel sweeps close a turn once', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const both = await Promise.all([sweep(bench), sweep(bench)]);

    expect(both.reduce((sum, { turnsClosed }) => sum + turnsClosed, 0)).toBe(1);
    expect(both.map(({ failed }) => failed)).toEqual([0, 0]);
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['failed']);
  });
});

describe('messages that wait', () => {
  test('a sweep closes abandoned waiting messages up to the first with a waiter', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const held = inSeconds(bench, 20);
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5), held]);

    await sweep(bench);

    const conversation = await storedConversation(bench, conversationId);
    const states = await statesFrom(bench, conversationId, [3, 4, 5, 6]);
    expect(states).toEqual(['failed', 'failed', 'failed', 'queued']);
    expect(conversation?.queue).toEqual({ first: 6, leaseUntil: held });
    expect(conversation?.open).toBeUndefined();
  });

  test('a sweep leaves waiting messages two seconds after their lease', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    await addQueued(bench, conversationId, [inSeconds(bench, -1.9)]);

    await sweep(bench);
    const early = await statesFrom(bench, conversationId, [3, 4]);
    bench.clock.advance(200);
    await sweep(bench);

    expect(early).toEqual(['failed', 'queued']);
    expect(await statesFrom(bench, conversationId, [4])).toEqual(['failed']);
  });

  test('a sweep leaves no queue when nobody waits behind a turn that goes on', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, 20));
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5)]);

    await sweep(bench);

    const conversation = await storedConversation(bench, conversationId);
    expect(conversation?.queue).toBeUndefined();
    expect(conversation?.open?.seq).toBe(3);
    const states = await statesFrom(bench, conversationId, [3, 4, 5]);
    expect(states).toEqual(['running', 'failed', 'failed']);
  });
});

describe('a turn that waits for the app when a sweep comes', async () => {
  const { fakeGemini, model } = await useToolModel();
  const caller = { uid: 'u1', tier: 'signedIn' } as const;
  /** After the twelve turns of the stage. */
  const SEQ = 13;

  /** A turn that waits for the app, as long as `elapsedMs` by now. */
  async function waitingFor(elapsedMs: number) {
    const stage = await createToolStage(model);
    await say(stage.chat, stage.conversationId, 'call weather {"city":"Oslo"}\ncall locate');
    stage.elapse(elapsedMs);
    return stage;
  }

  /** Resolves to how the turn ended for the app that posted, or to the reason why it is refused. */
  const post = ({ chat, conversationId }: ToolStage): Promise<string> =>
    answerCalls(chat, {
      caller,
      conversationId,
      turnId: `t_${SEQ}`,
      results: [{ callId: `t_${SEQ}_c1`, kind: 'response', response: { lat: 1 } }],
      locale: undefined,
    })
      .then(async ({ result }) => (await result).turn.state)
      .catch((error: unknown) => (error instanceof AppError ? error.reason : String(error)));

  const sweepStage = (stage: ToolStage, store: DocumentStore = stage.store) =>
    runSweep({ ...stage.worker(), store }, neverAborted());
  const turnOf = (stage: ToolStage) => storedTurn(stage.chat, stage.conversationId, SEQ);

  /** The store of a stage, in which something happens once before a turn is closed. */
  const beforeClosing = (stage: ToolStage, act: () => Promise<unknown>): DocumentStore => {
    let hasActed = false;
    const commit: DocumentStore['commit'] = async (writes) => {
      if (!hasActed && writes.some(({ op, path }) => op === 'update' && path.includes('/turns/'))) {
        hasActed = true;
        await act();
      }
      return stage.store.commit(writes);
    };
    return { ...stage.store, commit };
  };

  test('a sweep leaves a turn that may still wait for the app', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS / 2);

    expect((await sweepStage(stage)).turnsClosed).toBe(0);
    expect(await post(stage)).toBe('done');
  });

  test('a sweep expires a turn that waited too long: it accepts no results, and the next message reads its end', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);

    const counts = await sweepStage(stage);
    const turn = await turnOf(stage);
    const late = await post(stage);
    fakeGemini.clearJournal();
    const next = await say(stage.chat, stage.conversationId, 'And now?');

    expect(counts.turnsClosed).toBe(1);
    expect(turn).toMatchObject({ state: 'cancelled', inContext: true });
    const responses = [{ response: { degrees: 21 } }, { response: { error: 'expired' } }];
    expect(responsesIn(turn.contents)).toMatchObject(responses);
    expect(late).toBe('TOOL_RESULT_CONFLICT');
    expect(next.turn.state).toBe('done');
    const [call] = fakeGemini.journal();
    expect(call?.refusal).toBeUndefined();
    expect(JSON.stringify(fakeGemini.requestBody(call?.n ?? 0))).toContain('expired');
  });

  test('results stored before the sweep’s closing win, and the sweep leaves the turn', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);
    const posted: string[] = [];
    const store = beforeClosing(stage, async () => posted.push(await post(stage)));

    const counts = await sweepStage(stage, store);

    const turn = await turnOf(stage);
    expect([...posted, turn.state, counts.turnsClosed]).toEqual(['done', 'done', 0]);
    expect(responsesIn(turn.contents)[1]).toMatchObject({ response: { lat: 1 } });
  });

  test('results stored after the sweep’s closing are refused with the reason', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);
    const store = beforeClosing(stage, () => sweepStage(stage));

    const posted = await post({ ...stage, chat: { ...stage.chat, store } });

    const turn = await turnOf(stage);
    expect([posted, turn.state]).toEqual(['TOOL_RESULT_CONFLICT', 'cancelled']);
    expect(responsesIn(turn.contents)[1]).toMatchObject({ response: { error: 'expired' } });
  });
});
