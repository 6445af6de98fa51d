import { expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/clocks.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import {
  buildDue,
  neverAborted,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { needAgain } from '#test/support/chat/lifecycle.ts';
import {
  type TurnToBuild,
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';

const modelServer = await startModelServer();
const orders = Array.from({ length: 20 }, (_, index) => `ORD-${70_000 + index}`);
const orderTurns = orders.map((order, index) => ({
  user: `${order} goes to door ${index + 1}. ${madeUpQuestion(index + 1)}`,
}));

/** Two friends who chat, with dates, amounts and times as people write them. */
const talkTurns = Array.from({ length: 25 }, (_, index) => ({
  user: `Caroline (1:${10 + index} pm on ${index + 1} May, 2023): I paid $1,${200 + index}.50 for the pottery class, ticket PC-${4_400 + index}, and ${index} of 30 people came. Call me at +44 20 7946 0${100 + index}. 1. Clay 2. Glaze`,
  answer: `Melanie: Lovely! The race on ${index + 1} December raised 12,5${10 + index} dollars; see https://example.org/race/${index}?year=2023 for the photos. ${madeUpAnswer(index)}`,
}));

/** Compacts these turns by the model server. */
async function compacted(turns: readonly TurnToBuild[]) {
  const bench = { ...compactionBench(), clock: systemClock };
  const worker = modelServer.worker(bench);
  const conversationId = await buildDue(worker, { turns });
  const compact = () => runCompaction(worker, { conversationId, signal: neverAborted() });
  const result = await compact();
  return { worker, conversationId, compact, result, ...(await see(worker.store, conversationId)) };
}

test('the worker with a model server compacts an honest model’s summary in one call, by the server’s count', async () => {
  const { result, history } = await compacted(talkTurns);

  expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
  expect(history).toMatchObject({ modelCalls: 1, model: 'gemini-2.5-flash' });
  expect(history?.report).toMatchObject({ tokensSource: 'counted', markedCount: 0, refused: {} });
  expect(history?.usage.promptTokens).toBeGreaterThan(0);
});

test('the worker keeps every order number through three generations', async () => {
  const { worker, conversationId, compact } = await compacted(orderTurns);

  for (let generation = 2; generation <= 3; generation++) {
    for (let turn = 0; turn < 25; turn++) {
      const more = { user: madeUpQuestion(turn), answer: madeUpAnswer(turn) };
      await addTurn(worker.store, conversationId, more);
    }
    await needAgain(worker, conversationId, `request-${generation}`);
    expect(await compact()).toMatchObject({ state: 'COMPACTED' });
  }

  const { conversation, history, text } = await see(worker.store, conversationId);
  const kept = `${text} ${JSON.stringify(history?.snapshot)}`;
  expect(conversation.generation).toBe(3);
  expect(orders.filter((order) => !kept.includes(order))).toEqual([]);
});
