import type { Topic } from '#shared/ports/ports.ts';
import { deployedPushSettings, listensToEvents, type PushSettings } from '../stack/pubsub-setup.ts';
import { localProjectId } from '../stack/stack-environment.ts';
import { createMemoryBus, type MemoryBus } from './memory-bus.ts';

export type WorkerPush = Partial<PushSettings> & {
  /** Pushes at the same time; default 2, as the emulator does on two cores. */
  maxInFlight?: number;
  /** Each event is delivered this many times more; default 0. */
  duplicates?: number;
};

/** A bus in memory that pushes to the worker, as the topics are deployed; `push` says what differs. */
export function createWorkerBus(
  settings: Parameters<typeof listensToEvents>[0],
  compactionUrl: string,
  push: WorkerPush = {},
): MemoryBus {
  const { maxInFlight, duplicates, ...timing } = { ...deployedPushSettings, ...push };
  const subscription = (topic: Topic) => ({
    topic,
    name: `projects/${localProjectId}/subscriptions/recap-${topic}`,
    endpoint: compactionUrl,
    ackDeadlineMs: timing.ackDeadlineSeconds * 1_000,
    minBackoffMs: timing.minBackoffSeconds * 1_000,
    maxBackoffMs: timing.maxBackoffSeconds * 1_000,
    maxDeliveryAttempts: timing.maxDeliveryAttempts,
    ...(maxInFlight !== undefined && { maxInFlight }),
    ...(duplicates !== undefined && { duplicates }),
  });
  return createMemoryBus({
    subscriptions: [
      subscription('compaction'),
      ...(listensToEvents(settings) ? [subscription('events')] : []),
    ],
  });
}
