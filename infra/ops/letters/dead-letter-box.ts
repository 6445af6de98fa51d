import type { DeadLetter, DeadLetterClient } from './dead-letter-client.ts';

interface Place {
  subscriptionId: string;
  /** At most so many of them. */
  limit: number;
}

/** Dead letters of a project. */
export interface DeadLetterBox {
  /**
   * Takes some of them, and puts them back. Pub/Sub promises no order, and may not give all at once. Throws what the
   * client throws, NOT_FOUND among it.
   */
  look(place: Place): Promise<DeadLetter[]>;
  /** Publishes again those that are meant, and takes each away once it is published. Returns them. */
  replay(
    place: Place & { topicId: string; isMeant: (letter: DeadLetter) => boolean },
  ): Promise<DeadLetter[]>;
  close(): Promise<void>;
}

/** Of one pull; Pub/Sub gives a thousand at most. */
const PULL_MAX = 100;
/** Pulls that give nothing new before there is nothing. */
const EMPTY_PULLS_MAX = 2;

/** What dead letters have from Pub/Sub and not from their publisher. */
export const DEAD_LETTER_ATTRIBUTE = 'CloudPubSubDeadLetter';

/** As many as are asked for; none comes twice as long as all are held. */
async function hold(
  client: Pick<DeadLetterClient, 'pull'>,
  { subscriptionId, limit }: Place,
): Promise<DeadLetter[]> {
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

const ownAttributes = ({ attributes }: DeadLetter): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !name.startsWith(DEAD_LETTER_ATTRIBUTE)),
  );

/** Whatever happens, every letter that was not published again is put back. */
export const createDeadLetterBox = (client: DeadLetterClient): DeadLetterBox => ({
  async look(input) {
    const letters = await hold(client, input);
    await client.putBack(input.subscriptionId, letters);
    return letters;
  },
  async replay({ topicId, isMeant, ...input }) {
    const letters = await hold(client, input);
    const replayed: DeadLetter[] = [];
    try {
      for (const letter of letters.filter((each) => isMeant(each))) {
        const { data } = letter;
        await client.publish(topicId, { data, attributes: ownAttributes(letter) });
        replayed.push(letter);
        await client.acknowledge(input.subscriptionId, letter);
      }
      return replayed;
    } finally {
      const left = letters.filter((letter) => !replayed.includes(letter));
      await client.putBack(input.subscriptionId, left);
    }
  },
  close: () => client.close(),
});
