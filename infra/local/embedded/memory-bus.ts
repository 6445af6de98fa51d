import { setImmediate } from 'node:timers/promises';
import { AppError } from '#shared/errors.ts';
import type { EventPublisher, Topic } from '#shared/ports/ports.ts';
import type { BusMessage } from './push-delivery.ts';
import {
  PushSubscription,
  type DeadLetter,
  type PushSubscriptionOptions,
} from './push-subscription.ts';

export interface MemoryBus extends EventPublisher {
  /** What was refused too often, the newest hundred, oldest first. */
  deadLetters(): readonly DeadLetter[];
  /** Resolves when no message is queued, in flight or waiting for a further try. */
  idle(): Promise<void>;
  /** Stops every delivery; later events are refused with EVENT_BUS_UNAVAILABLE. */
  close(): Promise<void>;
}

/**
 * A Pub/Sub in this process: events go to the push subscriptions of their topic, over real HTTP and in
 * Pub/Sub's own push body, with its back-off, dead letters and, on demand, its duplicates. A topic without
 * a subscription drops its events. One with too many waiting refuses them, for whoever publishes to try again. Nothing is stored: what is queued ends with the process, as
 * does the embedded store.
 */
export function createMemoryBus(options: {
  subscriptions: readonly (PushSubscriptionOptions & { topic: Topic })[];
}): MemoryBus {
  const subscriptions = options.subscriptions.map((settings) => ({
    topic: settings.topic,
    queue: new PushSubscription(settings),
  }));
  let published = 0;
  let isClosed = false;

  return {
    async publish({ topic, data, attributes }) {
      const encoded = Buffer.from(JSON.stringify(data)).toString('base64');
      await setImmediate();
      if (isClosed) throw refusedError(topic, 'is closed');
      const asked = subscriptions.filter((subscription) => subscription.topic === topic);
      if (asked.some(({ queue }) => queue.isFull)) throw refusedError(topic, 'is full');
      published += 1;
      const message: BusMessage = {
        messageId: String(published),
        data: encoded,
        attributes: { ...attributes },
        publishTime: new Date().toISOString(),
      };
      for (const { queue } of asked) queue.enqueue(message);
    },
    deadLetters: () => subscriptions.flatMap(({ queue }) => queue.deadLetters),
    async idle() {
      await Promise.all(subscriptions.map(({ queue }) => queue.idle()));
    },
    async close() {
      isClosed = true;
      await Promise.all(subscriptions.map(({ queue }) => queue.close()));
    },
  };
}

function refusedError(topic: Topic, why: string): AppError {
  return new AppError({
    status: 'UNAVAILABLE',
    reason: 'EVENT_BUS_UNAVAILABLE',
    message: `the in-process bus ${why} and took no event for ${topic}`,
    publicMessage: 'The service is busy. Try again in a moment.',
    retryable: true,
  });
}
