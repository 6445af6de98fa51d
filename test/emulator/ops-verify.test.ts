import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import {
  createTopicAndPushSubscription,
  deployedPushSettings,
  publishEvent,
} from '#infra/local/stack/pubsub-setup.ts';
import { createDocumentTree } from '#infra/ops/document-tree.ts';
import { createDeadLetterClient, createDeadLetters } from '#infra/ops/dead-letters.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import {
  pullMessages,
  demoProjectId,
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import { verifyWorld } from '../support/compaction/verifying.ts';
import { ops } from '../support/processes/ops.ts';
import { afterAll, describe, expect, test } from 'vitest';

const firestore = (projectId: string) =>
  createFirestoreDocumentStore({ projectId, deadlineMs: 10_000 });

test('verification finds and erases documents below missing conversations', async () => {
  const projectId = demoProjectId();
  const world = verifyWorld(firestore(projectId));
  const tree = createDocumentTree({ projectId, emulatorHost: firestoreEmulatorHost() });
  const { conversationId: lost } = await buildConversation(world.store, { turns: 2 });
  const { conversationId: whole } = await buildConversation(world.store, { turns: 2 });
  await world.store.commit([{ op: 'delete', path: conversationPath(lost) }]);

  const { code, out } = await ops(world, ['verify', lost, whole, '--json'], { tree });
  const dry = await ops(world, ['erase', lost], { tree });
  await ops(world, ['erase', lost, '--yes'], { tree });
  const after = await ops(world, ['verify', lost], { tree });

  expect(code).toBe(1);
  expect(out).toContain(`"path":"${turnPath(lost, 1)}"`);
  expect(out).toContain(`{"conversationId":"${whole}","state":"live","findings":[]`);
  expect(dry.out).toContain('messages, turns');
  expect(after).toMatchObject({ code: 0, err: '' });
});

describe('dead letters of Pub/Sub', () => {
  const projectId = demoProjectId();
  const place = { pubsubHost: pubsubEmulatorHost(), projectId };
  const box = createDeadLetters(createDeadLetterClient(projectId));
  afterAll(() => box.close());
  /** Each command closes its own. */
  const deadLetters = { ...box, close: () => Promise.resolve() };

  test('inspected dead letters stay, and are removed once they are published again', async () => {
    const world = verifyWorld();
    await createTopicAndPushSubscription({
      ...place,
      topicId: 'recap-compaction',
      subscriptionId: 'recap-compaction',
      // Nobody listens there: what is published again stays in the other subscription.
      pushEndpoint: 'http://127.0.0.1:9/',
      ...deployedPushSettings,
      deadLetterTopicId: 'recap-compaction-dead',
    });
    await createTopicAndPushSubscription({
      ...place,
      topicId: 'recap-compaction',
      subscriptionId: 'watched',
      pushEndpoint: '',
      ...deployedPushSettings,
    });
    const event = (conversationId: string) => ({
      schemaVersion: 1,
      conversationId,
      requestId: 'r',
    });
    for (const id of ['c-1', 'c-2']) await publishEvent(place, 'recap-compaction-dead', event(id));
    const parts = { deadLetters };

    const first = await ops(world, ['dead-letters'], parts);
    const second = await ops(world, ['dead-letters'], parts);
    const done = await ops(world, ['dead-letters', '--yes'], parts);
    const left = await ops(world, ['dead-letters'], parts);

    for (const { out } of [first, second, done]) expect(out).toMatch(/c-1[^]*c-2|c-2[^]*c-1/u);
    expect(done.out).toContain('2 dead letters published to recap-compaction again');
    expect(left.out).toBe('0 dead letters in recap-compaction-dead\n');
    const again = await pullMessages(place, 'watched');
    const republished = again.map(({ data }) => JSON.parse(Buffer.from(data, 'base64').toString()));
    expect(republished).toHaveLength(2);
    expect(republished).toEqual(expect.arrayContaining([event('c-1'), event('c-2')]));
  });
});
