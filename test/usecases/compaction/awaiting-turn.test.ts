import { expect, test } from 'vitest';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import {
  compactionBench,
  compactOnce,
  neverAborted,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { appTool, MODEL, responsesIn, say, toolChat } from '#test/support/tools/tool-world.ts';

const { server: fakeGemini, model } = await startModelServer();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const RESULT_TIMEOUT_MS = 900_000;
/** The turn that waits stands behind the turns that are made up; these exceed the threshold. */
const SEQ = 13;

/** Chat, worker and sweep on one store and one clock, and a turn that waits for the app. */
async function waiting() {
  const store = createMemoryDocumentStore();
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  const { chat } = toolChat(model, {
    environment: { TOOL_RESULT_TIMEOUT_MS: String(RESULT_TIMEOUT_MS) },
    overrides: { store, clock, cache: createMemoryCache({ maxBytes: 10_000_000 }) },
  });
  const { conversationId } = await buildConversation(store, {
    turns: SEQ - 1,
    conversation: {
      model: MODEL,
      settings: { thresholdTokens: 1_000 },
      toolsJson: JSON.stringify([appTool('locate')]),
    },
  });
  await say(chat, conversationId, 'call weather {"city":"Oslo"}\ncall locate');
  return {
    store,
    chat,
    conversationId,
    worker: () => compactionBench({ store, clock: createManualClock(clock.now()) }),
    elapse: (ms: number) => (aheadMs += ms),
    turn: () => storedTurn(chat, conversationId, SEQ),
    /** The app answers; the turn as it ends. */
    post: async () => {
      const { result } = await answerCalls(chat, {
        caller,
        conversationId,
        turnId: `t_${SEQ}`,
        results: [{ callId: `t_${SEQ}_c1`, kind: 'response', response: { lat: 1 } }],
        locale: undefined,
      });
      return (await result).turn;
    },
  };
}

const prompts = () =>
  fakeGemini.journal().map(({ n }) => JSON.stringify(fakeGemini.requestBody(n)));
const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);

test('a compaction beside a turn that waits for the app folds earlier turns, and the turn goes on with its rounds whole', async () => {
  const { chat, conversationId, store, worker, turn, post } = await waiting();
  const before = await turn();
  const asked = { caller, conversationId, requestId: 'by-hand' };

  await requestCompaction(chat, asked);
  const result = await compactOnce(worker(), conversationId);

  const conversation = (await readConversation(store, conversationId))?.value;
  expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
  expect(conversation).toMatchObject({ generation: 1, open: { seq: SEQ } });
  expect(conversation?.coveredThrough.seq).toBeLessThan(SEQ);
  expect(await turn()).toEqual(before);
  expect(await requestCompaction(chat, asked)).toMatchObject({ state: 'COMPACTED' });

  fakeGemini.clearJournal();
  const answered = await post();
  const next = await say(chat, conversationId, 'And now?');

  expect(answered).toMatchObject({ state: 'done', attempt: 1 });
  const responses = [{ response: { degrees: 21 } }, { response: { lat: 1 } }];
  expect(responsesIn(answered.contents)).toMatchObject(responses);
  expect(next.turn).toMatchObject({ state: 'done', seq: SEQ + 1 });
  expect(prompts()).toHaveLength(2);
  for (const prompt of prompts()) {
    expect(prompt).toContain('"degrees":21');
    expect(prompt).toContain('"lat":1');
    expect(prompt).not.toContain('Question 1:');
  }
  expect(refusals()).toEqual([]);
});

test('a sweep leaves a turn that may still wait for the app', async () => {
  const { elapse, worker, post } = await waiting();
  elapse(RESULT_TIMEOUT_MS / 2);

  expect((await runSweep(worker(), neverAborted())).turnsClosed).toBe(0);
  expect((await post()).state).toBe('done');
});

test('a sweep expires a turn that waited too long: it accepts no results, and the next message reads its end', async () => {
  const { chat, conversationId, elapse, worker, turn, post } = await waiting();
  elapse(RESULT_TIMEOUT_MS + 1);

  const counts = await runSweep(worker(), neverAborted());

  const expired = await turn();
  expect(counts.turnsClosed).toBe(1);
  expect(expired).toMatchObject({ state: 'cancelled', inContext: true });
  const responses = [{ response: { degrees: 21 } }, { response: { error: 'expired' } }];
  expect(responsesIn(expired.contents)).toMatchObject(responses);
  await expect(post()).rejects.toMatchObject({ reason: 'TOOL_RESULT_CONFLICT' });
  fakeGemini.clearJournal();
  expect((await say(chat, conversationId, 'And now?')).turn.state).toBe('done');
  expect(refusals()).toEqual([]);
  expect(prompts()[0]).toContain('expired');
});
