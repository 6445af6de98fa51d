import { parseConfig } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { createRemotePolicy, REMOTE_POLICY_PATH } from '#functions/config/remote-documents.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { expect, test } from 'vitest';

const conversation = newConversation({
  epoch: 'epoch',
  ownerUid: 'u1',
  model: 'gemini-2.5-flash',
  profile: 'assistant',
  systemInstruction: undefined,
  now: new Date(0),
});

function bench() {
  const store = createMemoryDocumentStore();
  const clock = createManualClock();
  const logs: { event: string; fields: object }[] = [];
  let reads = 0;
  let isDown = false;
  const remote = createRemotePolicy({
    store: {
      get: async (paths) => {
        reads += 1;
        if (isDown) throw new Error('store down');
        return store.get(paths);
      },
    },
    clock,
    logger: { log: (_, event, fields) => void logs.push({ event, fields }) },
  });
  const config = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap' });
  return {
    store,
    clock,
    logs,
    remote,
    write: (fields: DocumentFields) =>
      store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]),
    breakStore: () => {
      isDown = true;
    },
    reads: () => reads,
    policy: (environment: object = {}) =>
      conversationPolicy({ ...config, ...environment, remotePolicy: remote }, conversation),
  };
}

test('the remote policy changes within a minute, without a restart', async () => {
  const { remote, policy, write, clock } = bench();
  await remote.refresh();
  await write({ thresholdTokens: 9_000 });

  clock.advance(59_999);
  await remote.refresh();
  const early = policy().softThresholdTokens;
  clock.advance(1);
  await remote.refresh();

  expect([early, policy().softThresholdTokens]).toEqual([24_000, 9_000]);
});

test('the remote policy stays when the store fails, and is read again a minute later', async () => {
  const { remote, policy, write, clock, breakStore, reads, logs } = bench();
  await write({ thresholdTokens: 9_000 });
  await remote.refresh();
  breakStore();

  clock.advance(60_000);
  await remote.refresh();
  await remote.refresh();

  expect(policy().softThresholdTokens).toBe(9_000);
  expect(reads()).toBe(2);
  expect(logs).toEqual([{ event: 'remote_policy_not_read', fields: { error: 'Error' } }]);
});

test('the remote policy uses valid values and warns once of invalid ones', async () => {
  const { remote, policy, write, clock, logs } = bench();
  await write({
    thresholdTokens: -1,
    thresholdFraction: 'half',
    breakerFailures: 5,
    variants: { a: { share: 2 } },
    learnThreshold: 'yes',
    treshold: 3,
  });

  await remote.refresh();
  clock.advance(60_000);
  await remote.refresh();

  expect(policy()).toMatchObject({ breakerFailures: 5, thresholdLevel: 'default' });
  expect(logs).toEqual([
    {
      event: 'remote_policy_unusable',
      fields: {
        fields: 'learnThreshold, thresholdFraction, thresholdTokens, treshold, variants',
        count: 5,
      },
    },
  ]);
});
