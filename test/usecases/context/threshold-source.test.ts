import { describe, expect, test } from 'vitest';
import { showContext } from '#functions/chat/context/show-context.ts';
import { parseConfig } from '#functions/config.ts';
import { AppError } from '#shared/errors.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

async function shownPolicy(environment: Record<string, string>, settings: object = {}) {
  const dependencies = chatDependencies({}, environment);
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: 1,
    conversation: { ownerUid: caller.uid, profile: 'coding', model: 'gemini-2.5-flash', settings },
  });
  const shown = await showContext(dependencies, { caller, conversationId });
  return contextResponse.parse(shown).policy;
}

describe('the context', () => {
  test('the context shows a coding conversation’s limits and the table as their source', async () => {
    expect(await shownPolicy({})).toEqual({
      threshold: { tokens: 48_000, source: 'table' },
      hardThreshold: { tokens: 96_000, source: 'derived' },
      tail: { tokens: 8_000, source: 'table' },
      snapshot: { tokens: 4_800, source: 'derived' },
      toolOutputs: { tokens: 8_000, source: 'derived' },
    });
  });

  test.each<[string, Record<string, string>, object, object]>([
    [
      'a row of the deployment',
      { THRESHOLD_TABLE: '{"gemini-2.5/coding":{"thresholdTokens":64000}}' },
      {},
      { tokens: 64_000, source: 'table' },
    ],
    [
      'the environment',
      { THRESHOLD_TOKENS: '30000' },
      {},
      { tokens: 30_000, source: 'environment' },
    ],
    [
      'the conversation',
      { THRESHOLD_TOKENS: '30000' },
      { thresholdTokens: 9_000 },
      { tokens: 9_000, source: 'conversation' },
    ],
  ])(
    'the context says that the threshold is set by %s',
    async (...[, environment, settings, threshold]) => {
      expect(await shownPolicy(environment, settings)).toMatchObject({ threshold });
    },
  );
});

test('an invalid THRESHOLD_TABLE stops the start and is named', () => {
  const start = () =>
    parseConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      THRESHOLD_TABLE: '{"gemini-/coding":{"thresholdTokens":0}}',
    });

  expect(start).toThrow(AppError);
  expect(start).toThrow('THRESHOLD_TABLE');
});
