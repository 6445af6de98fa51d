import { createPubSubEventPublisher } from '#functions/adapters/pubsub.ts';
import { createTopicAndPushSubscription } from '#infra/local/stack/pubsub-setup.ts';
import {
  pullMessages,
  demoProjectId,
  pubsubEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { describeEventBus, type BusSettings, type OpenedBus } from './event-bus.suite.ts';
import { expect, test } from 'vitest';

/** The shortest that the emulator takes; its acknowledgement deadline is 10 s at least. */
const timings = {
  ackDeadlineSeconds: 10,
  minBackoffSeconds: 0.1,
  maxBackoffSeconds: 0.5,
  maxDeliveryAttempts: 5,
};
const topicIds = { compaction: 'compaction', events: 'events' };

async function openPubSub({ endpoint, ...settings }: BusSettings): Promise<OpenedBus> {
  const place = { pubsubHost: pubsubEmulatorHost(), projectId: demoProjectId() };
  const setup = {
    ...place,
    ...settings,
    pushEndpoint: endpoint,
  };
  await createTopicAndPushSubscription({
    ...setup,
    topicId: topicIds.compaction,
    subscriptionId: 'compaction-push',
    deadLetterTopicId: 'compaction-dead',
  });
  await createTopicAndPushSubscription({
    ...setup,
    topicId: topicIds.events,
    subscriptionId: 'events-push',
    pushEndpoint: 'http://127.0.0.1:9/nobody',
  });
  return {
    publisher: createPubSubEventPublisher({
      projectId: place.projectId,
      topicIds,
      deadlineMs: 20_000,
    }),
    subscription: `projects/${place.projectId}/subscriptions/compaction-push`,
    deadLetters: async () => {
      const letters = await pullMessages(place, 'compaction-dead');
      return letters.map(({ data }) => data);
    },
    close: async () => {},
  };
}

describeEventBus('Pub/Sub emulator', { timings, open: openPubSub });

test('publishing to a topic that does not exist fails with EVENT_BUS_UNAVAILABLE', async () => {
  pubsubEmulatorHost();
  const projectId = demoProjectId();
  const publisher = createPubSubEventPublisher({ projectId, topicIds, deadlineMs: 5_000 });

  await expect(publisher.publish({ topic: 'events', data: {} })).rejects.toMatchObject({
    reason: 'EVENT_BUS_UNAVAILABLE',
    retryable: true,
  });
});
