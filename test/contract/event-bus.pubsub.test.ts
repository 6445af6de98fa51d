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
  ackDeadlineMs: 10_000,
  minBackoffMs: 100,
  maxBackoffMs: 500,
  maxDeliveryAttempts: 5,
};
const topicIds = { compaction: 'compaction', events: 'events' };

async function openPubSub(settings: BusSettings): Promise<OpenedBus> {
  const place = { pubsubHost: pubsubEmulatorHost(), projectId: demoProjectId() };
  const setup = {
    ...place,
    ackDeadlineSeconds: settings.ackDeadlineMs / 1_000,
    minBackoffSeconds: settings.minBackoffMs / 1_000,
    maxBackoffSeconds: settings.maxBackoffMs / 1_000,
    pushEndpoint: settings.endpoint,
  };
  await createTopicAndPushSubscription({
    ...setup,
    topicId: topicIds.compaction,
    subscriptionId: 'compaction-push',
    deadLetterTopicId: 'compaction-dead',
    maxDeliveryAttempts: settings.maxDeliveryAttempts,
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
