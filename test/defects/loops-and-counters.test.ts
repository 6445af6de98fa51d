import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { engineConstants } from '#shared/compaction/constants.ts';
import { planCompaction } from '#shared/compaction/plan.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { estimatePromptTokens, estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { benchWith, needAgain, worldWith } from '#test/support/chat/lifecycle.ts';
import { request, sendAll } from '#test/support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
} from '#test/support/compaction/compacted-conversation.ts';
import { snapshotAnswer } from '../fakes/scripted-model.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import {
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
  modelText,
} from '../support/compaction/conversation-builder.ts';
import { foldedTurn } from '../support/compaction/said-turn.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const rule = 'character-class';

describe('D1: compressed on every turn, and never smaller', () => {
  test('D1: one huge turn and eight short ones cost one compaction, which shrinks the context', async () => {
    const world = worldWith('ledger', [snapshotAnswer()]);
    const conversationId = await buildDue(world, {
      turns: [{ user: 'Read this. '.repeat(5_000) }],
    });
    const sizes: number[] = [];

    for (let seq = 2; seq <= 9; seq++) {
      await addTurn(world.store, conversationId, { user: `Step ${seq}.`, answer: 'Done.' });
      await needAgain(world, conversationId, `request-${seq}`);
      await compactOnce(world.bench, conversationId);
      sizes.push((await see(world.store, conversationId)).tokens);
    }

    expect(world.bench.model.calls).toHaveLength(1);
    expect(Math.max(...sizes)).toBeLessThan(THRESHOLD_TOKENS);
    expect((await see(world.store, conversationId)).conversation.generation).toBe(1);
  });
});

/** Sentences that repeat nothing and state no figure. */
function proseOf(sentences: number): string {
  const things = ['lamp', 'chair', 'bridge', 'garden', 'window', 'letter', 'ferry', 'market'];
  const traits = ['old', 'green', 'narrow', 'quiet', 'wooden', 'bright', 'heavy', 'small'];
  const word = (from: readonly string[], index: number) => from[index % from.length] ?? '';
  return Array.from(
    { length: sentences },
    (_, i) =>
      `the ${word(traits, i)} ${word(things, Math.floor(i / 8))} stands beside a ${word(traits, Math.floor(i / 64) + i)} ${word(things, i + 3)} and a ${word(traits, i * 3 + 1)} ${word(things, Math.floor(i / 3))}`,
  ).join('\n');
}

describe('D2: a longer context accepted as a shorter one', () => {
  const systemInstruction = 'Answer like the guide of a small museum by the sea. '.repeat(800);
  const overheadTokens = estimateTextTokens(systemInstruction, rule);
  /** Of twenty made-up turns, as a model reported it. */
  const context = {
    tokens: overheadTokens + 2_600,
    overheadTokens,
    calibration: 1,
    source: 'reported' as const,
    generation: 0,
    seq: 20,
  };

  test('D2: sizes before and after a compaction include system instruction and pins', async () => {
    const bench = benchWith('ledger', [snapshotAnswer()]);
    const pins = [
      { id: 'p', text: 'Call me Captain.', source: 'api' as const, createTime: new Date(0) },
    ];
    const conversationId = await buildDue(bench, {
      conversation: { systemInstruction, pins, context },
    });

    const result = await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(bench.model.counted).toHaveLength(2);
    for (const prompt of bench.model.counted) {
      expect(prompt.systemInstruction).toBe(systemInstruction);
      expect(JSON.stringify(prompt.contents)).toContain('Call me Captain.');
    }
    expect(history?.beforeTokens).toBeGreaterThan(overheadTokens);
    expect(history?.afterTokens).toBeGreaterThan(overheadTokens);
  });
});

describe('D9: an estimate with a cliff and a blind spot', () => {
  test('D9: a message of 100,001 CJK characters is over its threshold before any model counted it', async () => {
    const silent = {
      chunks: [{ parts: [{ text: 'Fine.' }] }, { parts: [], finishReason: 'STOP' }],
    };
    const chat = chatDependencies(
      { model: scriptedStreamer(silent).model },
      { THRESHOLD_TOKENS: '90000' },
    );
    const id = randomUUID();

    await sendAll(chat, id, ['字'.repeat(100_001)]);

    const conversation = (await readConversation(chat.store, id))?.value;
    expect(conversation?.context).toMatchObject({ source: 'estimated' });
    expect(conversation?.context.tokens).toBeGreaterThan(100_000);
    expect(conversation?.compactionRequests.auto?.trigger).toBe('auto');
  });
});

/** More than a snapshot holds, each item about what is said, in words of its own and of a turn that is shown. */
function everythingKept({ contents }: ModelRequest): Promise<string> {
  const shown = contents.map(contentText).join('\n');
  const seqs = [...shown.matchAll(/^\[(\d+)\] user: /gmu)].map(([, seq]) => Number(seq));
  const operations = proseOf(110)
    .split('\n')
    .map((text, index) => ({
      op: 'add',
      section: 'key_knowledge',
      text: `Worth a visit in the morning by bus, then a walk along the river: ${text}`,
      sources: [seqs[index % seqs.length] ?? 1],
    }));
  return Promise.resolve(JSON.stringify({ scratchpad: '', operations }));
}

describe('D19: a summary that grows with what it covers', () => {
  const policyOfThreshold = (thresholdTokens: number) =>
    resolvePolicy({ model: 'gemini-2.5-flash', conversation: { thresholdTokens } });

  test('D19: twenty times the text gets a summary at most half longer', async () => {
    const sizes: { snapshot: number; asked: (number | undefined)[] }[] = [];

    for (const turns of [100, 2_000]) {
      const bench = benchWith('ledger', [everythingKept]);
      const conversationId = await buildDue(bench, {
        turns,
        conversation: { settings: { thresholdTokens: 10_000 } },
      });
      expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
      const { history } = await see(bench.store, conversationId);
      const asked = bench.model.calls.map(({ maxOutputTokens }) => maxOutputTokens);
      sizes.push({ snapshot: history?.snapshotTokens ?? 0, asked: [...new Set(asked)] });
    }

    const budgetTokens = policyOfThreshold(10_000).snapshotBudgetTokens;
    const [short, long] = sizes;
    expect(long?.asked).toEqual(short?.asked);
    // The frame and the acknowledgement come on top of the room.
    const mostTokens = engineConstants.roomOvershoot * budgetTokens + 200;
    for (const { snapshot } of sizes) {
      expect(snapshot).toBeGreaterThan(0.8 * budgetTokens);
      expect(snapshot).toBeLessThan(mostTokens);
    }
  });
});

describe('D14: cumulative counts added up', () => {
  const usage = (outputTokens: number) => ({
    promptTokens: 10_000,
    cachedTokens: 0,
    outputTokens,
    thoughtsTokens: 0,
  });

  test('D14: of three usage reports of one answer the last counts, not their sum', async () => {
    const chunks: ModelChunk[] = [10, 20, 30].map((outputTokens) => ({
      parts: [{ text: 'Some words. ' }],
      usage: usage(outputTokens),
    }));
    const { model } = scriptedStreamer({
      chunks: [...chunks, { parts: [], finishReason: 'STOP', usage: usage(30) }],
    });

    const handle = await sendMessage(chatDependencies({ model }), request(randomUUID(), 'Hello'));
    const { turn, context } = await handle.result;

    expect(context.tokens).toBe(10_030);
    expect(turn.usage).toMatchObject({ promptTokens: 10_000, outputTokens: 30 });
  });
});

describe('D12: a summary request that no window holds', () => {
  test('D12: of 50,000 messages no call of the ledger summariser reads over 60 percent of its window', () => {
    const model = 'gemini-2.5-flash';
    const windowTokens = 128_000;
    const plan = planCompaction({
      context: {
        model,
        pins: [],
        history: undefined,
        coveredThrough: { seq: 0, contentIndex: 0 },
        turns: Array.from({ length: 25_000 }, (_, index) => ({
          ...foldedTurn(index + 1, madeUpQuestion(index + 1)),
          contents: [modelText(madeUpAnswer(index + 1))],
        })),
      },
      policy: resolvePolicy({ model, windowOverrides: { [model]: windowTokens } }),
      calibration: 1,
      summariserWindowTokens: windowTokens,
      isModelAllowed: true,
      forms: { ...wholeOutputs({ counting: { rule: 'character-class' } }), blobName: String },
      strategy: 'ledger',
    });

    const chunks = plan.kind === 'fold' ? plan.chunks : [];
    const sizes = chunks.map((chunk) =>
      estimatePromptTokens(
        { contents: chunk.turns.flatMap(({ user, contents }) => [user, ...contents]) },
        rule,
      ),
    );
    expect(chunks).toHaveLength(16);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(0.6 * windowTokens);
  });
});
