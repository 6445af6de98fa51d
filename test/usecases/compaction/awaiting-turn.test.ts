import { expect, test } from 'vitest';
import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { createToolStage, responsesIn, say } from '#test/support/tools/tool-world.ts';

const { server: fakeGemini, model } = await startModelServer();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
/** After the twelve turns of the stage. */
const SEQ = 13;

test('a compaction beside a turn that waits for the app folds earlier turns, and the turn goes on with its rounds whole', async () => {
  const stage = await createToolStage(model);
  const { chat, conversationId } = stage;
  await say(chat, conversationId, 'call weather {"city":"Oslo"}\ncall locate');
  const waiting = await storedTurn(chat, conversationId, SEQ);
  const asked = { caller, conversationId, requestId: 'by-hand' };

  await requestCompaction(chat, asked);
  const result = await compactOnce(stage.worker(), conversationId);

  const conversation = (await readConversation(stage.store, conversationId))?.value;
  expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
  expect(conversation).toMatchObject({ generation: 1, open: { seq: SEQ } });
  expect(conversation?.coveredThrough.seq).toBeLessThan(SEQ);
  expect(await storedTurn(chat, conversationId, SEQ)).toEqual(waiting);
  expect(await requestCompaction(chat, asked)).toMatchObject({ state: 'COMPACTED' });

  fakeGemini.clearJournal();
  const prompts = () =>
    fakeGemini.journal().map(({ n }) => JSON.stringify(fakeGemini.requestBody(n)));
  const answered = await answerCalls(chat, {
    caller,
    conversationId,
    turnId: `t_${SEQ}`,
    results: [{ callId: `t_${SEQ}_c1`, kind: 'response', response: { lat: 1 } }],
    locale: undefined,
  });
  const { turn } = await answered.result;
  const next = await say(chat, conversationId, 'And now?');

  expect(turn).toMatchObject({ state: 'done', attempt: 1 });
  const responses = [{ response: { degrees: 21 } }, { response: { lat: 1 } }];
  expect(responsesIn(turn.contents)).toMatchObject(responses);
  expect(next.turn).toMatchObject({ state: 'done', seq: SEQ + 1 });
  expect(prompts()).toHaveLength(2);
  for (const prompt of prompts()) {
    expect(prompt).toContain('"degrees":21');
    expect(prompt).toContain('"lat":1');
    expect(prompt).not.toContain('Question 1:');
  }
  expect(fakeGemini.journal().flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
});
