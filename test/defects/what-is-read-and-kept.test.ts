import { wholeOutputs } from '#shared/compaction/sent-view.ts';
import { planCompaction } from '#shared/compaction/plan.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { benchWith, configOf, strategies } from '#test/support/chat/lifecycle.ts';
import {
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { foldedTurn } from '#test/support/compaction/said-turn.ts';
import { snapshotAnswer } from '../fakes/scripted-model.ts';
import {
  madeUpAnswer,
  madeUpQuestion,
  modelText,
} from '../support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

const MODEL = 'gemini-2.5-flash';
const rule = 'character-class';

describe('D12: a summary request that no window holds', () => {
  const windowTokens = 128_000;
  const limitTokens = 0.6 * windowTokens;
  const turns = Array.from({ length: 25_000 }, (_, index) => ({
    ...foldedTurn(index + 1, madeUpQuestion(index + 1)),
    contents: [modelText(madeUpAnswer(index + 1))],
  }));
  const policy = resolvePolicy({ model: MODEL, windowOverrides: { [MODEL]: windowTokens } });

  test.each(strategies)(
    'D12: of 50,000 messages no call of the %s summariser reads over 60 percent of its window',
    (strategy) => {
      const plan = planCompaction({
        context: {
          model: MODEL,
          pins: [],
          history: undefined,
          coveredThrough: { seq: 0, contentIndex: 0 },
          turns,
        },
        policy,
        calibration: 1,
        summariserWindowTokens: windowTokens,
        isModelAllowed: true,
        forms: { ...wholeOutputs({ counting: { rule: 'character-class' } }), blobName: String },
        strategy,
      });

      expect(plan.kind).toBe('fold');
      const chunks = plan.kind === 'fold' ? plan.chunks : [];
      const sizes = chunks.map((chunk) =>
        estimatePromptTokens(
          { contents: chunk.turns.flatMap(({ user, contents }) => [user, ...contents]) },
          rule,
        ),
      );
      expect(chunks.length).toBe(strategy === 'ledger' ? 16 : 1);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(limitTokens);
      expect(Math.min(...sizes)).toBeGreaterThan(0.5 * limitTokens);
    },
  );

  test.each([
    ['of a few words', madeUpQuestion(1), madeUpAnswer(1)],
    ['of two letters', 'ok', 'ok'],
    ['of many short lines', 'x\n'.repeat(30), 'y\n'.repeat(30)],
  ])(
    'D12: 10,000 messages %s make no request over 60 percent of the window',
    async (_, user, said) => {
      const smallTokens = 100_000;
      const bench = benchWith('ledger', [snapshotAnswer()], {
        config: configOf('ledger', { MODEL_WINDOWS: JSON.stringify({ [MODEL]: smallTokens }) }),
      });
      const conversationId = await buildDue(bench, {
        turns: Array.from({ length: 5_000 }, () => ({ user, answer: said })),
        conversation: { compactionRequests: manualRequest() },
      });

      await compactOnce(bench, conversationId);

      // Instruction and request, which do not grow, come on top of the turns.
      const sizes = bench.model.calls.map(({ contents }) =>
        estimatePromptTokens({ contents }, rule),
      );
      expect(sizes.length).toBeGreaterThan(0);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(0.6 * smallTokens + 200);
    },
  );
});

describe('D13: turns that share a time', () => {
  test.each(strategies)(
    'D13: sixty turns of one millisecond lose none that the %s compaction keeps',
    async (strategy) => {
      const bench = benchWith(strategy, [snapshotAnswer()]);
      const conversationId = await buildDue(bench, {
        now: new Date(1_000),
        turns: 60,
        conversation: { settings: { thresholdTokens: 6_000 } },
      });
      const before = await see(bench.store, conversationId);

      await compactOnce(bench, conversationId);

      const { conversation, items } = await see(bench.store, conversationId);
      const kept = items.filter(({ kind }) => kind === 'turn');
      const covered = conversation.coveredThrough.seq;
      expect(covered).toBeGreaterThan(30);
      expect(covered).toBeLessThan(57);
      expect(kept).toEqual(before.items.filter(({ seq = 0 }) => seq > covered));
      expect(kept).toHaveLength(2 * (60 - covered));
    },
  );
});

const orders = Array.from({ length: 58 }, (_, index) => `ORD-${81_000 + 37 * index}`);
const orderTurns = orders.map((order, index) => ({
  user: `Order ${order} goes to the ${madeUpQuestion(index + 1)}`,
}));
const lostIn = (text: string) => orders.filter((order) => !text.includes(order));

describe('D16: a summariser that sees a sixth of what it replaces', () => {
  const windows = { MODEL_WINDOWS: JSON.stringify({ [MODEL]: 6_000 }) };

  test('D16: all 58 order numbers are shown to the ledger summariser, over several calls', async () => {
    const bench = benchWith('ledger', [snapshotAnswer()], { config: configOf('ledger', windows) });
    const conversationId = await buildDue(bench, { turns: orderTurns });

    const result = await compactOnce(bench, conversationId);

    const { conversation, items } = await see(bench.store, conversationId);
    const shown = bench.model.calls.map(({ contents }) => JSON.stringify(contents));
    const kept = JSON.stringify(items.filter(({ kind }) => kind === 'turn'));
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(shown.length).toBeGreaterThan(1);
    expect(conversation.coveredThrough.seq).toBeGreaterThan(50);
    expect(lostIn(shown.join('\n') + kept)).toEqual([]);
  });

  test('D16: turns that the gemini-cli summariser is not shown stay in the context', async () => {
    const bench = benchWith('gemini-cli', [snapshotAnswer()], {
      config: configOf('gemini-cli', windows),
    });
    const conversationId = await buildDue(bench, { turns: orderTurns });

    await compactOnce(bench, conversationId);

    const { conversation, items } = await see(bench.store, conversationId);
    const folded = orders.slice(0, conversation.coveredThrough.seq);
    const kept = JSON.stringify(items.filter(({ kind }) => kind === 'turn'));
    const shown = JSON.stringify(bench.model.calls[0]?.contents);
    expect(conversation.generation).toBe(1);
    expect(folded.filter((order) => !shown.includes(order))).toEqual([]);
    expect(lostIn(shown + kept)).toEqual([]);
  });
});
