import { compact } from '#functions/recap-compaction.ts';
import { configOf } from '#test/support/chat/lifecycle.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  buildDue,
  compactionBench,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
} from '#test/support/compaction/compacted-conversation.ts';
import { call, response } from '#test/support/tools/tool-conversation.ts';
import { expect, test } from 'vitest';

/** Marks that are drawn for one call. */
const withoutMarks = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value).replaceAll(/[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}/g, 'MARK'),
  );

test.each(['ledger', 'gemini-cli'] as const)(
  'the worker and compact do the same to the same turns, by the strategy %s',
  async (strategy) => {
    const worker = createScriptedModel({ answers: [snapshotAnswer()] });
    const alone = createScriptedModel({ answers: [snapshotAnswer()] });
    const bench = compactionBench({
      model: worker,
      // Alone nothing searches what was folded.
      config: configOf(strategy, { RECALL_TOKENS: '0', BUILT_IN_TOOLS: 'none' }),
    });
    const looking = {
      user: 'Look it up.',
      answer: [call('look_up', { day: 3 }), response('look_up', 'Open until 6 pm.')],
    };
    const turns = Array.from({ length: 20 }, (_, index) => (index === 4 ? looking : {}));
    const conversationId = await buildDue(bench, { turns });
    const stored = await see(bench.store, conversationId);
    await compactOnce(bench, conversationId);
    const { history } = await see(bench.store, conversationId);

    const { snapshot, report, usage } = await compact({
      contents: stored.turns.flatMap(({ user, contents }) => [user, ...contents]),
      policy: { model: 'gemini-2.5-flash', thresholdTokens: THRESHOLD_TOKENS, strategy },
      model: { id: 'gemini-2.5-flash', generate: alone.generate.bind(alone) },
      timeOf: () => stored.turns[0]?.createTime,
    });

    const asked = ({ calls }: typeof worker) =>
      withoutMarks(calls.map(({ promptId: _promptId, ...request }) => request));
    expect(worker.calls.length).toBeGreaterThan(0);
    expect(asked(alone)).toEqual(asked(worker));
    expect(usage.calls).toBe(worker.calls.length);
    expect(snapshot?.statements).toEqual(history?.snapshot);
    expect(withoutMarks(snapshot?.text)).toBe(withoutMarks(history?.snapshotText));
    expect(snapshot?.nextTurn).toBe((history?.coveredThrough.seq ?? 0) + 1);
    expect(report).toMatchObject({
      state: 'COMPACTED',
      strategy: history?.strategy,
      turnsFolded: history?.turnsFolded,
      beforeTokens: history?.beforeTokens,
    });
  },
);
