import type { DeadLetter, DeadLetterClient } from './dead-letter-client.ts';

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
export const DEAD_LETTER_ATTRIBUTE = 'CloudPubSubDeadLetter';

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
