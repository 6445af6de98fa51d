import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { buildDue, neverAborted, see } from '#test/support/compaction/compacted-conversation.ts';
import { madeUpQuestion } from '../support/compaction/conversation-builder.ts';
import {
  storedConversation,
  startFaultStack,
  textsOf,
  type FaultStack,
} from '../support/processes/fault-stack.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let stack: FaultStack;
beforeEach(async () => {
  stack = await startFaultStack({ environment: { CLIENT_WRITABLE: 'model' } });
});
afterEach(() => stack.stop());

const TURNS = 20;
const questions = Array.from({ length: TURNS }, (_, index) => madeUpQuestion(index + 1));

const due = () => buildDue(stack, { turns: TURNS, conversation: { ownerUid: 'alice' } });

/** Compacts while something happens once at every step; returns the steps that were passed. */
async function compactWhile(
  conversationId: string,
  atStep: (point: string) => Promise<void>,
): Promise<string[]> {
  const steps: string[] = [];
  const result = await runCompaction(
    {
      ...stack.worker,
      atCrashPoint: async (point) => {
        // A step that the change makes the worker repeat is not changed again.
        if (steps.includes(point)) return;
        steps.push(point);
        await atStep(point);
      },
    },
    { conversationId, signal: neverAborted() },
  );
  expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
  return steps;
}

/** The seqs that the context shows as turns; each has two contents. */
async function shownSeqs(conversationId: string): Promise<number[]> {
  const { items } = await see(stack.store, conversationId);
  return [...new Set(items.flatMap(({ seq }) => seq ?? []))];
}

const upTo = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('contract 9: messages that are sent at every step of a compaction', () => {
  test('messages sent at every step of a compaction are all answered, stored once and in order', async () => {
    const id = await due();
    const said: string[] = [];
    const seen: { generation: number; seqs: number[] }[] = [];

    const steps = await compactWhile(id, async (point) => {
      const { generation } = await storedConversation(stack.store, id);
      seen.push({ generation, seqs: await shownSeqs(id) });
      said.push(`Sent at ${point}.`);
      const shown = await stack.shownContents(id);
      expect(await stack.send(id, `Sent at ${point}.`)).toMatchObject({ http: 200 });
      expect(stack.lastPrompt().slice(0, -1)).toEqual(shown);
    });

    const { coveredThrough, lastSeq, ...after } = await storedConversation(stack.store, id);
    expect(steps.length).toBeGreaterThanOrEqual(6);
    expect(textsOf(await stack.transcript(id), 'user')).toEqual([...questions, ...said]);
    expect([after.generation, lastSeq]).toEqual([1, TURNS + steps.length]);
    expect(await shownSeqs(id)).toEqual(upTo(coveredThrough.seq + 1, lastSeq));
    // At each step the context was that of one generation.
    expect(new Set(seen.map(({ generation }) => generation))).toEqual(new Set([0, 1]));
    for (const [index, { generation, seqs }] of seen.entries())
      expect(seqs).toEqual(upTo(generation === 0 ? 1 : coveredThrough.seq + 1, TURNS + index));
  });

  test('messages begun before the swap and ended after it are in the next context', async () => {
    const id = await due();
    const isSwapped = Promise.withResolvers<void>();
    stack.fakeGemini.queueFaults({ kind: 'delay', delayMs: 400, match: { role: 'chat' } });
    const across = stack.send(id, 'I span the swap.');
    await compactWhile(id, async (point) => {
      if (point === 'swapped') isSwapped.resolve();
      await Promise.resolve();
    });
    await isSwapped.promise;

    expect(await across).toMatchObject({ http: 200 });
    await stack.send(id, 'And then?');

    const prompt = stack.lastPromptTexts();
    expect(prompt.filter((text) => text === 'I span the swap.')).toHaveLength(1);
    expect(prompt[0]).toContain('state_snapshot');
  });
});

test.each([
  ['summarised', { model: 'gemini-2.5-flash' }],
  ['verified', { settings: { thresholdTokens: 1_500 } }],
])('setting %s to %j during a compaction persists, and the swap succeeds', async (at, change) => {
  const id = await due();

  await compactWhile(id, async (point) => {
    if (point !== at) return;
    const path = `/v1/conversations/${id}`;
    const changed = await stack.chat.call(path, { method: 'PATCH', body: change });
    expect(changed.status).toBe(200);
  });

  const conversation = await storedConversation(stack.store, id);
  expect(conversation).toMatchObject({ ...change, generation: 1, compactionRequests: {} });
  expect(await shownSeqs(id)).toEqual(upTo(conversation.coveredThrough.seq + 1, TURNS));
});
