import { expect, onTestFinished, test } from 'vitest';
import {
  createMemoryBus,
  type MemoryBus,
  type PushSubscriptionOptions,
} from '#infra/local/embedded/memory-bus.ts';
import { openPushEndpoint, type PushEndpoint } from '../support/processes/push-endpoint.ts';
import { describeEventBus, type BusSettings, type OpenedBus } from './event-bus.suite.ts';

const subscription = 'projects/demo-recap/subscriptions/compaction';

const timings = {
  ackDeadlineSeconds: 1,
  minBackoffSeconds: 0.03,
  maxBackoffSeconds: 0.06,
  maxDeliveryAttempts: 5,
};

async function openMemoryBus(settings: BusSettings): Promise<OpenedBus> {
  const bus = createMemoryBus({
    subscriptions: [{ topic: 'compaction', name: subscription, ...settings }],
  });
  return {
    publisher: bus,
    subscription,
    deadLetters: async () => bus.deadLetters().map(({ message }) => message.data),
    close: async () => bus.close(),
  };
}

describeEventBus('in memory', { timings, open: openMemoryBus });

async function start(
  answer: Parameters<typeof openPushEndpoint>[0],
  settings: Partial<PushSubscriptionOptions> = {},
): Promise<{ bus: MemoryBus; endpoint: PushEndpoint }> {
  const endpoint = await openPushEndpoint(answer);
  const bus = createMemoryBus({
    subscriptions: [
      {
        topic: 'compaction',
        name: subscription,
        endpoint: endpoint.url,
        minBackoffSeconds: 0.005,
        ...settings,
      },
    ],
  });
  onTestFinished(async () => {
    await bus.close();
    await endpoint.close();
  });
  return { bus, endpoint };
}

test('the in-process bus doubles its back-off up to the maximum, and gives up after eight pushes', async () => {
  const { bus, endpoint } = await start(() => 500, {
    minBackoffSeconds: 0.02,
    maxBackoffSeconds: 0.08,
  });

  await bus.publish({ topic: 'compaction', data: {} });
  await bus.idle();

  const times = endpoint.received.map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
  [20, 40, 80, 80, 80, 80, 80].forEach((leastMs, index) => {
    expect(gaps[index]).toBeGreaterThan(leastMs - 2);
  });
  expect(Math.min(...gaps.slice(3))).toBeLessThan(160);
  expect(bus.deadLetters()).toMatchObject([{ subscription, deliveryAttempts: 8 }]);
});

test('closing the in-process bus ends pushes, queued events and back-offs without dead letters', async () => {
  const { bus, endpoint } = await start((_push, index) => (index === 0 ? 500 : null), {
    minBackoffSeconds: 60,
  });
  for (const n of [1, 2, 3, 4]) await bus.publish({ topic: 'compaction', data: { n } });
  await endpoint.untilReceived(3, 5_000);

  await bus.close();

  expect(endpoint.received).toHaveLength(3);
  expect(bus.deadLetters()).toEqual([]);
});
