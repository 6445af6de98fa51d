import { AppError } from '#shared/errors.ts';
import type { EventPublisher } from '#shared/ports/ports.ts';
import type { EntryMessage, EntrySettings } from './phones/entry-settings.ts';
import type { Random } from './random.ts';

interface ChaosPublisherOptions {
  settings: Pick<EntrySettings, 'broken' | 'lostPublishShare'>;
  random: Random;
  tell: (message: EntryMessage) => void;
  /** Whether this process has noted the need in a conversation document itself, and has not published it yet. */
  takeOwnRequest: (requestId: string) => boolean;
}

const refused = () =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'EVENT_BUS_UNAVAILABLE',
    message: 'the chaos run refused an event',
    publicMessage: 'The service is busy. Try again in a moment.',
    retryable: true,
  });

/**
 * A publisher that loses a share of the requests for compaction: half of them without a word, half with
 * an error. With `broken: 'sweep'` nobody but the request that crossed the threshold publishes a need.
 */
export function chaosPublisher(
  inner: EventPublisher,
  { settings, random, tell, takeOwnRequest }: ChaosPublisherOptions,
): EventPublisher {
  return {
    async publish(event) {
      const requestId = 'requestId' in event.data ? String(event.data.requestId) : undefined;
      if (event.topic === 'compaction' && requestId !== undefined) {
        const isFirst = takeOwnRequest(requestId);
        if (settings.broken === 'sweep' && !isFirst) return;
        if (random.chance(settings.lostPublishShare)) {
          tell({ kind: 'fault', name: 'lost publish' });
          if (random.chance(0.5)) throw refused();
          return;
        }
      }
      await inner.publish(event);
    },
  };
}
