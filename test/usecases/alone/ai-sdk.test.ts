import type * as Example from '#docs/examples/ai-sdk.ts';
import type { CompactionSnapshot } from '#functions/recap-compaction.ts';
import { lockerCode, lockerTurn, notingFacts } from '#test/support/compaction/fact-summariser.ts';
import { loadExample } from '#test/support/tools/load-example.ts';
import { generateText, isStepCount, tool, type ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';

/* docs/examples/ai-sdk.ts with the AI SDK itself, over 200 turns of which every fifth calls a tool. */

const { compactSteps } = await loadExample<typeof Example>('ai-sdk');

const TURNS = 200;
/** About 4 characters each. */
const THRESHOLD_TOKENS = 4_000;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Answers with the words of the turn; in a turn that asks for it, behind a call. */
function scriptedModel(lengths: number[]) {
  let turn = 0;
  return new MockLanguageModelV4({
    doGenerate: ({ prompt }) => {
      const last = prompt.at(-1);
      const isCalling = last?.role === 'user' && ++turn % 5 === 0;
      lengths[turn - 1] = Math.max(lengths[turn - 1] ?? 0, JSON.stringify(prompt).length);
      return Promise.resolve({
        content: isCalling
          ? [
              {
                type: 'tool-call' as const,
                toolCallId: `call-${turn}`,
                toolName: 'check',
                input: `{"turn":${turn}}`,
              },
            ]
          : [{ type: 'text' as const, text: lockerTurn(turn).answer }],
        finishReason: {
          unified: isCalling ? ('tool-calls' as const) : ('stop' as const),
          raw: undefined,
        },
        usage,
        warnings: [],
      });
    },
  });
}

const check = tool({
  description: 'Checks a turn.',
  inputSchema: z.object({ turn: z.number() }),
  execute: ({ turn }) => ({ turn, isFine: true }),
});

/** Talks; each request is a new process that knows what was stored. Returns the longest prompt of each turn. */
async function talk({ isCompacted }: { isCompacted: boolean }) {
  const lengths: number[] = [];
  const model = scriptedModel(lengths);
  let store = JSON.stringify({ messages: [] });
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const stored: { messages: ModelMessage[]; snapshot?: CompactionSnapshot } = JSON.parse(store);
    const messages: ModelMessage[] = [
      ...stored.messages,
      { role: 'user', content: lockerTurn(turn).user },
    ];
    const policy = { thresholdTokens: THRESHOLD_TOKENS };
    const compaction = compactSteps({
      model: notingFacts,
      policy,
      snapshot: stored.snapshot,
      onError: rethrow,
    });
    const { response } = await generateText({
      model,
      messages,
      instructions: 'You are a helpful guide.',
      tools: { check },
      stopWhen: isStepCount(5),
      ...(isCompacted && { prepareStep: compaction.prepareStep }),
    });
    store = JSON.stringify({
      messages: [...messages, ...response.messages],
      snapshot: compaction.snapshot(),
    });
  }
  const kept: { messages: ModelMessage[]; snapshot?: CompactionSnapshot } = JSON.parse(store);
  return { lengths, ...kept };
}

function rethrow(error: unknown): never {
  throw error;
}

const longest = (lengths: readonly number[], from: number, through: number): number =>
  Math.max(...lengths.slice(from - 1, through));

test('begins a new snapshot where the app has changed a message of a folded turn', async () => {
  const messages = Array.from({ length: 40 }, (_, index): ModelMessage[] => [
    { role: 'user', content: lockerTurn(index + 1).user },
    { role: 'assistant', content: lockerTurn(index + 1).answer },
  ]).flat();
  const policy = { thresholdTokens: THRESHOLD_TOKENS };
  const compaction = compactSteps({ model: notingFacts, policy, onError: rethrow });
  await compaction.prepareStep({ messages });
  const edited: ModelMessage[] = [
    { role: 'user', content: 'Locker 1 opens with ZZ-9090.' },
    ...messages.slice(1),
  ];

  await compaction.prepareStep({ messages: edited });

  expect(compaction.snapshot()?.text).toContain('locker 1: ZZ-9090');
  expect(compaction.snapshot()?.text).not.toContain(lockerCode(1));
});

test('compacts 200 turns: prompts stay bounded, the app keeps all, and facts of folded turns are told', async () => {
  const plain = await talk({ isCompacted: false });
  const { lengths, messages, snapshot } = await talk({ isCompacted: true });

  expect(longest(lengths, 101, 200)).toBeLessThan(1.1 * longest(lengths, 1, 100));
  expect(longest(lengths, 1, TURNS)).toBeLessThan(6 * THRESHOLD_TOKENS);
  expect(plain.lengths.at(-1)).toBeGreaterThan(4 * longest(lengths, 1, TURNS));
  expect(messages).toEqual(plain.messages);
  for (let turn = 1; turn < (snapshot?.nextTurn ?? 0); turn += 10)
    expect(snapshot?.text).toContain(`locker ${turn}: ${lockerCode(turn)}`);
  expect(snapshot?.nextTurn).toBeGreaterThan(180);
});
