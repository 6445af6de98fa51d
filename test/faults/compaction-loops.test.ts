import { brakeOn, sizeBrakes, unproductiveSwapsAfter } from '#shared/compaction/brake.ts';
import { estimateContextTokens } from '#shared/compaction/context-tokens.ts';
import { planCompaction } from '#shared/compaction/plan.ts';
import { resolvePolicy, type CompactionPolicy } from '#shared/compaction/policy.ts';
import { decideSwap } from '#shared/compaction/swap-decision.ts';
import { storedMasks } from '#shared/compaction/tool-output-budget.ts';
import { requestForContext } from '#shared/compaction/trigger.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { newConversation } from '#shared/conversation/documents/new-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { continuedHistory, nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import { describe, expect, test } from 'vitest';

const model = 'gemini-2.5-flash';
const now = new Date('2026-01-02T03:04:05Z');
const conversation = newConversation({
  epoch: 'e',
  ownerUid: 'owner',
  model,
  profile: 'assistant',
  systemInstruction: undefined,
  now,
});

const turn = (seq: number, user: string, contents: Content[]): Turn => ({
  schemaVersion: 1,
  seq,
  messageId: `message-${seq}`,
  state: 'done',
  attempt: 1,
  producer: 'p',
  leaseUntil: now,
  createTime: now,
  tokens: { user: 0, answer: 0 },
  inContext: true,
  user: { role: 'user', parts: [{ text: user }] },
  contents,
});

const toolLoop = (seq: number): Content[] =>
  Array.from({ length: 4 }, (_, index): Content[] => [
    { role: 'model', parts: [{ functionCall: { name: 'look', args: { seq, index } } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'look', response: { output: 'line '.repeat(100) } } }],
    },
  ]).flat();

interface World {
  context: ContextSource;
  history: History | undefined;
  modelCalls: number;
}

/** What a worker does with a context that asks, with a model whose snapshot has this size. */
function compact(
  world: World,
  run: { policy: CompactionPolicy; trigger: Trigger; snapshotWords: number },
): World {
  const { policy, trigger, snapshotWords } = run;
  const { context, history } = world;
  const beforeTokens = estimateContextTokens(context, { policy, calibration: 1 });
  const brakes = sizeBrakes({ history, declined: undefined, policy });
  if (brakeOn(brakes, { trigger, now, tokens: beforeTokens })) return world;
  const plan = planCompaction({
    context,
    policy,
    trigger,
    calibration: 1,
    summariserWindowTokens: 1_000_000,
    isModelAllowed: true,
    blobName: () => 'blob',
    strategy: 'ledger',
  });
  if (plan.kind !== 'fold') return world;
  const snapshotText = 'known '.repeat(snapshotWords);
  const { coveredThrough, kept, masks } = plan;
  const after = {
    ...context,
    coveredThrough,
    turns: kept,
    history: { snapshotText, masks: storedMasks(masks) },
  };
  const afterTokens = estimateContextTokens(after, { policy, calibration: 1 });
  const modelCalls = world.modelCalls + plan.chunks.length;
  const { swap } = decideSwap({ beforeTokens, afterTokens, policy, trigger });
  if (!swap) return { ...world, modelCalls };
  const next = {
    ...continuedHistory({
      conversation: { generation: history?.generation ?? 0 },
      source: undefined,
      state: 'RESTORED',
      changedSeqs: [],
      requestId: 'r',
      by: 'w',
      now,
      beforeTokens,
      afterTokens,
    }),
    snapshotText,
    unproductiveSwaps: unproductiveSwapsAfter(history, { beforeTokens, afterTokens, policy }),
  };
  return { context: after, history: next, modelCalls };
}

const emptyWorld: World = {
  context: { model, pins: [], history: undefined, coveredThrough: nothingCovered, turns: [] },
  history: undefined,
  modelCalls: 0,
};

describe('one huge turn and then a tool loop', () => {
  const policy = resolvePolicy({ model });

  test('a huge turn and then a tool loop is compacted once in eight turns, unlike Gemini CLI', () => {
    let world = emptyWorld;

    for (let seq = 1; seq <= 8; seq++) {
      const user = seq === 1 ? 'word '.repeat(40_000) : 'Go on.';
      const turns = [...world.context.turns, turn(seq, user, toolLoop(seq))];
      world = { ...world, context: { ...world.context, turns } };
      const tokens = estimateContextTokens(world.context, { policy, calibration: 1 });
      const { history } = world;
      const need = requestForContext({
        conversation,
        history,
        tokens,
        policy,
        requestId: 'r',
        now,
      });
      if (need) world = compact(world, { policy, trigger: 'auto', snapshotWords: 1_000 });
    }

    expect(world.modelCalls).toBe(1);
    expect(world.context.coveredThrough.seq).toBe(1);
  });
});

describe('overflows that no compaction relieves', () => {
  const policy = resolvePolicy({ model, windowOverrides: { [model]: 12_000 } });

  test('overflows that no compaction relieves cost two attempts until the context grows', () => {
    const long = 'word '.repeat(20_000);
    let world: World = {
      ...emptyWorld,
      context: {
        ...emptyWorld.context,
        turns: [turn(1, 'Read this.', [{ role: 'model', parts: [{ text: long }] }])],
      },
    };

    for (let attempt = 0; attempt < 8; attempt++) {
      // A summary as long as what it stands for, and a message that is turned away each time.
      world = compact(world, { policy, trigger: 'overflow', snapshotWords: 16_500 - 10 * attempt });
      const turns = [turn(2 + attempt, 'Hello.', [{ role: 'model', parts: [{ text: 'No.' }] }])];
      world = { ...world, context: { ...world.context, turns } };
    }

    expect(world.history?.unproductiveSwaps).toBe(2);
    expect(world.modelCalls).toBe(2);
  });
});
