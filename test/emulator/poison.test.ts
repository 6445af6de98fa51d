import { createPubSubEventPublisher } from '#functions/adapters/google/pubsub-event-publisher.ts';
import { createCompactionHandler } from '#functions/worker/push/handle-push.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createTopicAndPushSubscription } from '#infra/local/stack/pubsub-setup.ts';
import { pullMessages } from '../support/processes/pull-messages.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { buildDue } from '../support/compaction/compacted-conversation.ts';
import { compactionBench } from '../support/compaction/compaction-dependencies.ts';
import { eventually } from '../support/eventually.ts';
import { openForTest } from '../support/open-for-test.ts';
import { demoProjectId, pubsubEmulatorHost } from '../support/processes/emulator-environment.ts';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';

/** The fewest that Pub/Sub takes. */
const ATTEMPTS = 5;

/** The worker behind a push subscription of the emulator; its first look at one conversation is a defect. */
async function startWorker(poisoned: string) {
  const looks = { poisoned: 0 };
  const bench = compactionBench({
    store: createMemoryDocumentStore({
      beforeOperation: (operation) => {
        const isLook =
          operation.name === 'get' && operation.paths[1] === compactionJobPath(poisoned);
        if (!isLook) return Promise.resolve();
        looks.poisoned += 1;
        return Promise.reject(new TypeError('cannot read properties of undefined'));
      },
    }),
  });
  const handle = createCompactionHandler(bench);
  const server = createServer((request, response) => void handle(request, response));
  const { url } = await openForTest(server);
  const place = { pubsubHost: pubsubEmulatorHost(), projectId: demoProjectId() };
  await createTopicAndPushSubscription({
    ...place,
    topicId: 'compaction',
    subscriptionId: 'compaction',
    pushEndpoint: `${url}/`,
    deadLetterTopicId: 'compaction-dead',
    ackDeadlineSeconds: 10,
    minBackoffSeconds: 0.1,
    maxBackoffSeconds: 0.3,
    maxDeliveryAttempts: ATTEMPTS,
  });
  const publisher = createPubSubEventPublisher({
    projectId: place.projectId,
    topicIds: { compaction: 'compaction', events: 'events' },
    deadlineMs: 20_000,
  });
  return { bench, looks, place, publisher };
}

test('an event on which the worker always fails is dead-lettered, and others pass', async () => {
  const poisoned = randomUUID();
  const { bench, looks, place, publisher } = await startWorker(poisoned);
  await buildDue(bench, { conversationId: poisoned });
  const healthy = await buildDue(bench);
  const publish = (conversationId: string) =>
    publisher.publish({
      topic: 'compaction',
      data: { schemaVersion: 1, conversationId, requestId: 'request-1' },
    });

  await publish(poisoned);
  await publish(healthy);

  await eventually('the other conversation is compacted', async () =>
    (await readConversation(bench.store, healthy))?.value.generation === 1 ? true : undefined,
  );
  const [letter] = await eventually('a dead letter', async () => {
    const letters = await pullMessages(place, 'compaction-dead');
    return letters.length > 0 ? letters : undefined;
  });
  expect(Buffer.from(letter?.data ?? '', 'base64').toString()).toContain(poisoned);
  expect(looks.poisoned).toBeGreaterThanOrEqual(ATTEMPTS);
  expect((await readConversation(bench.store, poisoned))?.value).toMatchObject({ state: 'live' });
}, 120_000);
