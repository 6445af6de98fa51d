import { describe, expect, test } from 'vitest';
import type { Conversation, Trigger } from '#shared/conversation/documents/conversation.ts';
import {
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

const need = (trigger: Trigger): Conversation['compactionRequests'] => ({
  auto: { requestId: `request-${trigger}`, since: new Date(0), trigger },
});

/** What becomes of a need that waits when the setting is another one than when it was noted. */
const settle = async (
  compaction: Conversation['settings']['compaction'],
  compactionRequests: Conversation['compactionRequests'],
) => {
  const bench = compactionBench();
  const settings = { thresholdTokens: 1_000, compaction };
  const id = await buildDue(bench, { conversation: { settings, compactionRequests } });
  const result = await compactOnce(bench, id);
  return { result, after: (await see(bench.store, id)).conversation };
};

describe('a waiting compaction request', () => {
  test.each<[Conversation['settings']['compaction'], Trigger]>([
    ['off', 'auto'],
    ['off', 'overflow'],
    ['off', 'modelSwitch'],
    ['manual', 'auto'],
    ['manual', 'modelSwitch'],
  ])(
    'a waiting request is settled without compaction when the setting is %s: %s',
    async (setting, trigger) => {
      const { result, after } = await settle(setting, need(trigger));

      expect(result).toMatchObject({ state: 'NOOP', reason: 'SWITCHED_OFF' });
      expect(after).toMatchObject({ generation: 0, compactionRequests: {} });
    },
  );

  test.each<[Conversation['settings']['compaction'], Conversation['compactionRequests']]>([
    ['manual', need('overflow')],
    ['manual', manualRequest()],
    ['off', manualRequest()],
  ])('a waiting request is served despite the setting: %s, %j', async (setting, waiting) => {
    const { result, after } = await settle(setting, waiting);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(after.generation).toBe(1);
  });
});
