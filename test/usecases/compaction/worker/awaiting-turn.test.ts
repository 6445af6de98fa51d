import { describe, expect, test } from 'vitest';
import { requestCompaction } from '#functions/chat/context/request-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { createToolStage } from '#test/support/random-tools/tool-stage.ts';
import { responsesIn, say, useToolModel } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
/** After the twelve turns of the stage. */
const SEQ = 13;

/** A conversation over its threshold whose newest turn waits for the app; compacted by hand meanwhile. */
async function compactedWhileWaiting() {
  const stage = await createToolStage(model);
  const { chat, conversationId } = stage;
  await say(chat, conversationId, 'call weather {"city":"Oslo"}\ncall locate');
  const before = await storedTurn(chat, conversationId, SEQ);
  const asked = { caller, conversationId, requestId: 'by-hand' };
  await requestCompaction(chat, asked);
  const result = await compactOnce(stage.worker(), conversationId);
  const conversation = await readConversation(stage.store, conversationId);
  return { ...stage, before, result, conversation: conversation?.value };
}

const answer = ({ chat, conversationId }: Awaited<ReturnType<typeof compactedWhileWaiting>>) =>
  answerCalls(chat, {
    caller,
    conversationId,
    turnId: `t_${SEQ}`,
    results: [{ callId: `t_${SEQ}_c1`, kind: 'response', response: { lat: 1 } }],
    locale: undefined,
  });

const lastPrompt = () =>
  JSON.stringify(fakeGemini.requestBody(fakeGemini.journal().at(-1)?.n ?? 0));

describe('a compaction while a turn waits for the app', () => {
  test('a compaction beside a waiting turn folds earlier turns and leaves it unchanged', async () => {
    const { chat, conversationId, before, result, conversation } = await compactedWhileWaiting();

    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(conversation).toMatchObject({ generation: 1, open: { seq: SEQ } });
    expect(conversation?.coveredThrough.seq).toBeLessThan(SEQ);
    expect(await storedTurn(chat, conversationId, SEQ)).toEqual(before);
  });

  test('a waiting turn continues with the new snapshot and its own rounds whole', async () => {
    const world = await compactedWhileWaiting();
    fakeGemini.clearJournal();

    const { turn } = await (await answer(world)).result;

    expect(turn).toMatchObject({ state: 'done', attempt: 1 });
    expect(responsesIn(turn.contents)).toMatchObject([
      { response: { degrees: 21 } },
      { response: { lat: 1 } },
    ]);
    expect(fakeGemini.journal()).toHaveLength(1);
    expect(fakeGemini.journal()[0]?.refusal).toBeUndefined();
    expect(lastPrompt()).toContain('"degrees":21');
    expect(lastPrompt()).toContain('"lat":1');
    expect(lastPrompt()).not.toContain('Question 1:');
  });

  test('a compaction beside a waiting turn is followed by another after it, without loss', async () => {
    const world = await compactedWhileWaiting();
    const { chat, conversationId } = world;
    await (
      await answer(world)
    ).result;
    const shown = await showContext(chat, { caller, conversationId });

    const { turn } = await say(chat, conversationId, 'And now?');

    expect(turn).toMatchObject({ state: 'done', seq: SEQ + 1 });
    expect(JSON.stringify(shown.items)).toContain('"lat":1');
    expect(lastPrompt()).toContain('"lat":1');
    expect(fakeGemini.journal().flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  });

  test('a compaction beside a waiting turn requested twice runs once', async () => {
    const world = await compactedWhileWaiting();
    const asked = { caller, conversationId: world.conversationId, requestId: 'by-hand' };

    const again = await requestCompaction(world.chat, asked);

    expect(again).toMatchObject({ state: 'COMPACTED' });
  });
});
