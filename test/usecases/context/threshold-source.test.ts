import { describe, expect, test } from 'vitest';
import { showContext } from '#functions/chat/context/show-context.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { fixedPolicy } from '#test/support/fixed-policy.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

async function shownPolicy(
  environment: Record<string, string>,
  settings: object = {},
  remote: object = {},
) {
  const { config } = chatDependencies({}, environment);
  const remotePolicy = fixedPolicy({ ...remote });
  const dependencies = chatDependencies({ config: { ...config, remotePolicy } });
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: 1,
    conversation: { ownerUid: caller.uid, profile: 'coding', model: 'gemini-2.5-flash', settings },
  });
  const shown = await showContext(dependencies, { caller, conversationId });
  return contextResponse.parse(shown).policy;
}

describe('the context', () => {
  test('the context shows a coding conversation’s limits and their sources', async () => {
    expect(await shownPolicy({})).toEqual({
      threshold: { tokens: 48_000, source: 'default' },
      hardThreshold: { tokens: 96_000, source: 'derived' },
      tail: { tokens: 8_000, source: 'default' },
      snapshot: { tokens: 4_800, source: 'derived' },
      toolOutputs: { tokens: 8_000, source: 'derived' },
    });
  });

  const environment = { THRESHOLD_TOKENS: '30000' };
  const remote = { thresholdTokens: 20_000 };
  const thresholds = { coding: { thresholdTokens: 64_000 } };
  test.each<[string, Parameters<typeof shownPolicy>, object]>([
    [
      'the row of the model',
      [{}, {}, { models: { 'gemini-2.5-flash': { thresholds } } }],
      { tokens: 64_000, source: 'model' },
    ],
    ['the environment', [environment], { tokens: 30_000, source: 'environment' }],
    ['the remote document', [environment, {}, remote], { tokens: 20_000, source: 'remote' }],
    [
      'the conversation',
      [environment, { thresholdTokens: 9_000 }, remote],
      { tokens: 9_000, source: 'conversation' },
    ],
  ])('the context says that the threshold is set by %s', async (_, given, threshold) => {
    expect(await shownPolicy(...given)).toMatchObject({ threshold });
  });
});
