import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { autoRequest, neverAborted } from '../support/compaction/compacted-conversation.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import {
  storedConversation,
  startFaultStack,
  type FaultStack,
} from '../support/processes/fault-stack.ts';

const SMALL = 'gemini-small';
const SMALL_WINDOW_TOKENS = 8_000;

let stack: FaultStack;
beforeEach(async () => {
  stack = await startFaultStack({
    environment: {
      CLIENT_WRITABLE: 'model',
      MODEL_WINDOWS: JSON.stringify({ [SMALL]: SMALL_WINDOW_TOKENS }),
      COMPRESSOR_MODEL: SMALL,
    },
  });
  stack.fakeGemini.setWindow(SMALL, SMALL_WINDOW_TOKENS);
});
afterEach(() => stack.stop());

/** About 128 tokens a turn: fits the first model many times. */
async function conversationOf(turns: number): Promise<string> {
  const { conversationId } = await buildConversation(stack.store, {
    turns,
    conversation: { ownerUid: 'alice' },
  });
  return conversationId;
}

async function switchModel(id: string): Promise<void> {
  const path = `/v1/conversations/${id}`;
  const changed = await stack.chat.call(path, { method: 'PATCH', body: { model: SMALL } });
  expect(changed.status).toBe(200);
}

/** Runs the worker until nothing is asked for; each run folds what its window holds. */
async function compactUntilQuiet(id: string): Promise<number> {
  for (let runs = 0; runs < 20; runs++) {
    const { compactionRequests } = await storedConversation(stack.store, id);
    if (!compactionRequests.auto && !compactionRequests.manual) return runs;
    await stack.compact(id);
    stack.clock.shift(120_000);
  }
  throw new Error('the conversation asks for compactions without end');
}

const refusedForLength = () =>
  stack.fakeGemini.journal().filter(({ refusal }) => refusal !== undefined);

describe('a conversation that is switched to a model with a smaller window', () => {
  test('a conversation switched to a smaller window is answered within that window', async () => {
    const id = await conversationOf(200);
    await switchModel(id);

    for (let message = 0; message < 6; message++) {
      const sent = await stack.send(id, `Message ${message}: what is next?`);
      expect(sent.http).toBe(200);
      await compactUntilQuiet(id);
    }

    const prompts = stack.fakeGemini
      .journal()
      .filter(({ operation }) => operation !== 'countTokens');
    expect(refusedForLength()).toEqual([]);
    expect(Math.max(...prompts.map(({ promptTokens }) => promptTokens))).toBeLessThanOrEqual(
      SMALL_WINDOW_TOKENS,
    );
  });

  test('a conversation switched during a compaction has the new model and the new generation', async () => {
    const id = await conversationOf(60);
    await stack.store.commit([
      {
        op: 'update',
        path: conversationPath(id),
        fields: {
          settings: { thresholdTokens: 5_000 },
          compactionRequests: { auto: { ...autoRequest().auto } },
        },
        guard: { exists: true },
      },
    ]);

    await runCompaction(
      {
        ...stack.worker,
        atCrashPoint: async (point) => {
          if (point === 'summarised') await switchModel(id);
        },
      },
      { conversationId: id, signal: neverAborted() },
    );

    const conversation = await storedConversation(stack.store, id);
    expect(conversation).toMatchObject({ model: SMALL, generation: 1, compactionRequests: {} });
    expect(await stack.send(id, 'What is next?')).toMatchObject({ http: 200 });
    expect(refusedForLength()).toEqual([]);
  });
});
