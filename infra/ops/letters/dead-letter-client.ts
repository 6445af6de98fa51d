import type { protos, v1 } from '@google-cloud/pubsub';

/** What Pub/Sub has put aside after its last try. */
export interface DeadLetter {
  ackId: string;
  messageId: string;
  data: Buffer;
  attributes: Readonly<Record<string, string>>;
  publishTime: Date | undefined;
}

/** The calls of Pub/Sub that dead letters need; each throws what the client throws. */
export interface DeadLetterClient {
  pull(subscriptionId: string, most: number): Promise<DeadLetter[]>;
  /** Lets others have them at once. */
  putBack(subscriptionId: string, letters: readonly DeadLetter[]): Promise<void>;
  acknowledge(subscriptionId: string, letter: DeadLetter): Promise<void>;
  publish(
    topicId: string,
    message: { data: Buffer; attributes: Record<string, string> },
  ): Promise<void>;
  close(): Promise<void>;
}

const CALL_TIMEOUT_MS = 20_000;

interface Clients {
  subscriber: v1.SubscriberClient;
  publisher: v1.PublisherClient;
}

async function openClients(projectId: string): Promise<Clients> {
  const { PubSub, v1: generated } = await import('@google-cloud/pubsub');
  // Where the emulator is, only the client of the package finds out.
  const options = { ...(await new PubSub({ projectId }).getClientConfig()) };
  return {
    subscriber: new generated.SubscriberClient(options),
    publisher: new generated.PublisherClient(options),
  };
}

const lettersOf = (
  received: readonly protos.google.pubsub.v1.IReceivedMessage[] | null | undefined,
): DeadLetter[] =>
  (received ?? []).flatMap(({ ackId, message }) => {
    if (!ackId || !message) return [];
    const { messageId, attributes, publishTime } = message;
    const seconds = publishTime?.seconds;
    return [
      {
        ackId,
        messageId: messageId ?? '',
        data: Buffer.from(message.data ?? ''),
        attributes: attributes ?? {},
        publishTime: seconds ? new Date(Number(seconds) * 1_000) : undefined,
      },
    ];
  });

/** Pub/Sub, or its emulator when PUBSUB_EMULATOR_HOST is set. Nothing is loaded or connected before the first call. */
export function createDeadLetterClient(projectId: string): DeadLetterClient {
  let opening: Promise<Clients> | undefined;
  const open = () => (opening ??= openClients(projectId));
  const nameOf = (subscriptionId: string) =>
    `projects/${projectId}/subscriptions/${subscriptionId}`;
  const limits = { timeout: CALL_TIMEOUT_MS };
  return {
    async pull(subscriptionId, maxMessages) {
      const { subscriber } = await open();
      const subscription = nameOf(subscriptionId);
      const request = { subscription, maxMessages, returnImmediately: true };
      const [{ receivedMessages }] = await subscriber.pull(request, limits);
      return lettersOf(receivedMessages);
    },
    async putBack(subscriptionId, letters) {
      if (letters.length === 0) return;
      const { subscriber } = await open();
      const subscription = nameOf(subscriptionId);
      const ackIds = letters.map(({ ackId }) => ackId);
      await subscriber.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds: 0 }, limits);
    },
    async acknowledge(subscriptionId, { ackId }) {
      const { subscriber } = await open();
      await subscriber.acknowledge(
        { subscription: nameOf(subscriptionId), ackIds: [ackId] },
        limits,
      );
    },
    async publish(topicId, message) {
      const { publisher } = await open();
      const topic = `projects/${projectId}/topics/${topicId}`;
      await publisher.publish({ topic, messages: [message] }, limits);
    },
    async close() {
      const clients = await opening?.catch(() => undefined);
      await Promise.all([clients?.subscriber.close(), clients?.publisher.close()]);
    },
  };
}
