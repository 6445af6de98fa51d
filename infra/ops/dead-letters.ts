import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import type { protos, v1 } from '@google-cloud/pubsub';
import { z } from 'zod';

/** What Pub/Sub has put aside after its last try. */
export interface DeadLetter {
  ackId: string;
  messageId: string;
  data: Buffer;
  attributes: Readonly<Record<string, string>>;
  publishTime: Date | undefined;
}

/** The calls of Pub/Sub that dead letters need; each throws what the client throws. */
interface DeadLetterClient {
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

/** Dead letters of a project. */
export interface DeadLetters {
  /**
   * Lists at most so many of a subscription, and leaves them there. Pub/Sub promises no order, and may not give all at
   * once. Throws what the client throws, NOT_FOUND among it.
   */
  list(place: { subscriptionId: string; limit: number }): Promise<DeadLetter[]>;
  /** Publishes those that are meant again, and takes each away once it is published. Returns them. */
  replay(
    place: { subscriptionId: string; topicId: string; limit: number },
    isMeant: (letter: DeadLetter) => boolean,
  ): Promise<DeadLetter[]>;
  close(): Promise<void>;
}

/** Of one pull; Pub/Sub gives a thousand at most. */
const PULL_MAX = 100;
/** Pulls that give nothing new before there is nothing. */
const EMPTY_PULLS_MAX = 2;

/** What dead letters have from Pub/Sub and not from their publisher. */
const DEAD_LETTER_ATTRIBUTE = 'CloudPubSubDeadLetter';

const publishersAttributes = ({ attributes }: DeadLetter): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !name.startsWith(DEAD_LETTER_ATTRIBUTE)),
  );

/** Whatever happens, every letter that was not published again is put back. */
export function createDeadLetters(client: DeadLetterClient): DeadLetters {
  /** As many as are asked for; none comes twice as long as all are held. */
  async function hold(subscriptionId: string, limit: number): Promise<DeadLetter[]> {
    const held = new Map<string, DeadLetter>();
    let emptyPulls = 0;
    while (held.size < limit && emptyPulls < EMPTY_PULLS_MAX) {
      const before = held.size;
      const letters = await client.pull(subscriptionId, Math.min(PULL_MAX, limit - before));
      for (const letter of letters) held.set(letter.messageId, letter);
      emptyPulls = held.size === before ? emptyPulls + 1 : 0;
    }
    return [...held.values()];
  }

  return {
    async list({ subscriptionId, limit }) {
      const letters = await hold(subscriptionId, limit);
      await client.putBack(subscriptionId, letters);
      return letters;
    },
    async replay({ subscriptionId, topicId, limit }, isMeant) {
      const letters = await hold(subscriptionId, limit);
      const replayed: DeadLetter[] = [];
      try {
        for (const letter of letters.filter((each) => isMeant(each))) {
          const attributes = publishersAttributes(letter);
          await client.publish(topicId, { data: letter.data, attributes });
          replayed.push(letter);
          await client.acknowledge(subscriptionId, letter);
        }
        return replayed;
      } finally {
        const left = letters.filter((letter) => !replayed.includes(letter));
        await client.putBack(subscriptionId, left);
      }
    },
    close: () => client.close(),
  };
}

/** A dead letter without its body: ids and a reason. */
export interface ExplainedLetter {
  messageId: string;
  publishTime: Date | undefined;
  /** Deliveries in vain, as far as Pub/Sub says it. */
  attempts: number | undefined;
  /** `compact`, `erase`, `sweep`, the type of a told event, or `unreadable`. */
  event: string;
  conversationId?: string | undefined;
  requestId?: string | undefined;
  why: string;
}

/** Ids and names alone of whatever was published. */
const eventSchema = z.object({
  kind: z.string().max(64).optional(),
  type: z.string().max(64).optional(),
  conversationId: z
    .string()
    .regex(/^[^/]{1,128}$/u)
    .optional(),
  requestId: z.string().max(128).optional(),
});

function eventOf({ data }: DeadLetter): z.infer<typeof eventSchema> | undefined {
  try {
    return eventSchema.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** What has become of what a dead letter asked for. */
function explainLetter(
  { conversationId, requestId }: z.infer<typeof eventSchema>,
  document: StoredDocument | undefined,
): string {
  if (conversationId === undefined) return 'not about one conversation';
  if (!document) return 'there is no such conversation';
  let conversation: Conversation;
  try {
    conversation = decodeConversation(document).value;
  } catch (error) {
    return error instanceof NewerDocumentError
      ? 'a later release wrote it: deploy that one, or a later one, then replay'
      : 'the conversation cannot be read';
  }
  if (conversation.state !== 'live') return `the conversation is ${conversation.state}`;
  const { auto, manual } = conversation.compactionRequests;
  const isNeeded =
    requestId !== undefined && [auto?.requestId, manual?.requestId].includes(requestId);
  return isNeeded ? 'still needed' : 'settled since';
}

const attemptsOf = ({ attributes }: DeadLetter): number | undefined => {
  const count = attributes[`${DEAD_LETTER_ATTRIBUTE}SourceDeliveryCount`];
  return count === undefined ? undefined : Number(count);
};

/** What dead letters are about, and why they may have been put aside, by the documents as they are now. */
export async function explainLetters(
  store: Pick<DocumentStore, 'get'>,
  letters: readonly DeadLetter[],
): Promise<ExplainedLetter[]> {
  return Promise.all(
    letters.map(async (letter) => {
      const { messageId, publishTime } = letter;
      const attempts = attemptsOf(letter);
      const event = eventOf(letter);
      if (!event) {
        const why = 'no event that this version knows: replaying it helps nobody';
        return { messageId, publishTime, attempts, event: 'unreadable', why };
      }
      const { kind, type, conversationId, requestId } = event;
      const [conversation] =
        conversationId === undefined ? [] : await store.get([conversationPath(conversationId)]);
      return {
        messageId,
        publishTime,
        attempts,
        event: kind ?? type ?? 'compact',
        conversationId,
        requestId,
        why: explainLetter(event, conversation),
      };
    }),
  );
}
