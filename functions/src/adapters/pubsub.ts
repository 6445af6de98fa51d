import { abandonAfter } from '#functions/lib/deadline.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { EventPublisher, Topic } from '#shared/ports/ports.ts';
import { keepAliveSettings, type KeepAlive } from './grpc.ts';
import type { Topic as PubSubTopic } from '@google-cloud/pubsub';

interface PublisherOptions {
  projectId: string;
  topicIds: Readonly<Record<Topic, string>>;
  deadlineMs: number;
  keepAlive?: KeepAlive;
}

/**
 * The EventPublisher over Cloud Pub/Sub, or over its emulator when PUBSUB_EMULATOR_HOST is set. Nothing is
 * loaded or connected before the first event (loading takes about 0.5 s, once).
 *
 * `publish` resolves when Pub/Sub has stored the event, and ends within `deadlineMs`. Any failure is
 * AppError EVENT_BUS_UNAVAILABLE (retryable): the request stays in the documents and the next
 * request that meets it publishes it again.
 */
export function createPubSubEventPublisher(options: PublisherOptions): EventPublisher {
  let opened: Promise<Readonly<Record<Topic, PubSubTopic>>> | undefined;

  return {
    async publish({ topic, data, attributes }) {
      opened ??= open(options);
      const topics = await opened;
      const message = {
        data: Buffer.from(JSON.stringify(data)),
        attributes: { ...attributes },
      };
      const limit = { operation: `publish to ${topic}`, deadlineMs: options.deadlineMs };
      try {
        await abandonAfter(async () => topics[topic].publishMessage(message), limit);
      } catch (error) {
        throw unavailable(topic, error);
      }
    },
  };
}

async function open(options: PublisherOptions): Promise<Readonly<Record<Topic, PubSubTopic>>> {
  const { PubSub } = await import('@google-cloud/pubsub');
  const client = new PubSub({
    projectId: options.projectId,
    ...keepAliveSettings(options.keepAlive),
  });
  const publishOptions = {
    // One event after an answer: there is nothing to wait for.
    batching: { maxMessages: 1 },
    // The client's own limit is 60 s; no try goes on after the caller has given up.
    gaxOpts: { timeout: options.deadlineMs, retryRequestOptions: { retries: 0 } },
  };
  return {
    compaction: client.topic(options.topicIds.compaction, publishOptions),
    events: client.topic(options.topicIds.events, publishOptions),
  };
}

function unavailable(topic: Topic, cause: unknown): AppError {
  return new AppError({
    reason: 'EVENT_BUS_UNAVAILABLE',
    message: `the event bus did not take an event for ${topic}`,
    publicMessage: 'The service is busy. Try again in a moment.',
    retryAfterMs: 1_000,
    cause,
  });
}
