import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { caller, FAST, STRONG } from '#test/support/chat/routing.ts';
import { refusalsOf, signedCalls, switchTo } from '#test/support/chat/switching.ts';
import { compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { sentPrompt, unpaired } from '#test/support/random-tools/prompt-checks.ts';
import { createToolStage } from '#test/support/random-tools/tool-stage.ts';
import { say, useToolModel } from '#test/support/tools/tool-world.ts';
import { expect, test } from 'vitest';

const { fakeGemini, model } = await useToolModel();

const WEATHER = 'call weather {"city":"Oslo"}\nthen\ncall weather {"city":"Rome"}';

/** A compacted conversation whose tail holds a turn with calls that FAST has signed. */
async function compacted() {
  const stage = await createToolStage(model);
  const { chat, conversationId, store } = stage;
  await say(chat, conversationId, WEATHER);
  await requestCompaction(chat, { caller, conversationId, requestId: 'by-hand' });
  await compactOnce(stage.worker(), conversationId);
  const conversation = (await readConversation(store, conversationId))?.value;
  fakeGemini.clearJournal();
  return { chat, conversationId, conversation };
}

test.each([
  [STRONG, `${STRONG}: 0`],
  ['gemini-2.5-flash', 'gemini-2.5-flash: 0'],
  ['auto', `${FAST}: 2`],
])(
  'calls in a compacted tail reach %s in whole pairs with its own signatures',
  async (to, first) => {
    const { chat, conversationId, conversation } = await compacted();
    await switchTo(chat, conversationId, to);

    const { turn } = await say(chat, conversationId, WEATHER);

    expect(conversation).toMatchObject({ generation: 1, lastSeq: 13 });
    expect(conversation?.coveredThrough.seq).toBeLessThan(13);
    expect(turn).toMatchObject({ state: 'done' });
    expect(turn.repairs).toBeUndefined();
    expect(signedCalls(fakeGemini)[0]).toBe(first);
    const [asked] = fakeGemini.journal().filter(({ role }) => role === 'chat');
    const prompt = sentPrompt(fakeGemini.requestBody(asked?.n ?? 0));
    expect(JSON.stringify(prompt.contents)).toContain('"degrees":21');
    expect(unpaired(prompt)).toEqual([]);
    expect(refusalsOf(fakeGemini)).toEqual([]);
  },
);
