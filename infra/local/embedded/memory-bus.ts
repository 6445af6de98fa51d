import { AppError } from '#shared/lib/errors.ts';
import type { EventPublisher, Topic } from '#shared/ports/ports.ts';
import { deployedPushSettings, type PushSettings } from '../stack/pubsub-setup.ts';
import { request } from 'node:http';
import { setTimeout as wait, setImmediate } from 'node:timers/promises';

/** One event as it travels. */
interface BusMessage {
  messageId: string;
  /** JSON, encoded in base64. */
  data: string;
  attributes: Readonly<Record<string, string>>;
  publishTime: string;
}

/**
 * What both Cloud Pub/Sub and its emulator take for an acknowledgement of a push (the emulator, November
 * 2026: not 202, which Cloud Pub/Sub takes; but 203, which that does not).
 */
const ACKNOWLEDGEMENTS: readonly (number | undefined)[] = [200, 201, 204];

/** The body of a push, field for field as Pub/Sub sends it. */
export function pushBody(message: BusMessage, subscription: string): string {
  const { messageId, publishTime, data, attributes } = message;
  return JSON.stringify({
    message: {
      data,
      attributes,
      messageId,
      message_id: messageId,
      publishTime,
      publish_time: publishTime,
    },
    subscription,
  });
}

/** Posts `body`; true when it was acknowledged. No answer before `signal` fires is none. Never throws. */
async function push(endpoint: string, body: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const outgoing = request(endpoint, {
    method: 'POST',
    // A connection for each push: none is left open when the bus closes.
    agent: false,
    signal,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  outgoing.once('error', () => {
    resolve(false);
  });
  outgoing.once('response', (response) => {
    response.on('error', () => {});
    response.resume();
    resolve(ACKNOWLEDGEMENTS.includes(response.statusCode));
  });
  outgoing.end(body);
  return promise;
}

/** Dead letters that are kept to be looked at, the newest. */
export const DEAD_LETTERS_KEPT = 100;

export interface PushSubscriptionOptions extends Partial<PushSettings> {
  /** Full name, as it stands in the push body: `projects/demo-recap/subscriptions/compaction`. */
  name: string;
  /** Where the pushes go, e.g. `http://127.0.0.1:8081/`. */
  endpoint: string;
  /** Each message is delivered this many times more, acknowledged or not. Default 0. */
  duplicates?: number;
  /** Messages that wait, are on their way or between two tries; more are refused. Default 10,000. */
  maxQueued?: number;
}

/** Pushes at the same time, as the emulator does on two cores. */
const MAX_IN_FLIGHT = 2;

interface DeadLetter {
  message: BusMessage;
  subscription: string;
  deliveryAttempts: number;
}

/** Delivers messages to one endpoint until each is acknowledged, dead, or the subscription is closed. */
class PushSubscription {
  readonly deadLetters: DeadLetter[] = [];
  readonly #options: Required<PushSubscriptionOptions>;
  readonly #closing = new AbortController();
  readonly #deliveries = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;

  constructor(options: PushSubscriptionOptions) {
    this.#options = { ...deployedPushSettings, duplicates: 0, maxQueued: 10_000, ...options };
  }

  /** Whether it takes no further message for now. */
  get isFull(): boolean {
    return this.#deliveries.size >= this.#options.maxQueued;
  }

  enqueue(message: BusMessage): void {
    for (let copy = 0; copy <= this.#options.duplicates; copy += 1) {
      const delivery = this.#deliver(message).finally(() => this.#deliveries.delete(delivery));
      this.#deliveries.add(delivery);
    }
  }

  /** Resolves when nothing is queued, in flight or waiting for a further try. */
  async idle(): Promise<void> {
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries);
  }

  /** Cuts what is in flight and forgets the rest; resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const resume of this.#waiting.splice(0)) resume();
    await this.idle();
  }

  async #deliver(message: BusMessage): Promise<void> {
    const { maxDeliveryAttempts, name } = this.#options;
    for (let attempt = 1; attempt <= maxDeliveryAttempts; attempt += 1) {
      if (attempt > 1) await this.#backOff(attempt - 1);
      const isAcknowledged = await this.#push(message);
      if (isAcknowledged || this.#closing.signal.aborted) return;
    }
    this.deadLetters.push({ message, subscription: name, deliveryAttempts: maxDeliveryAttempts });
    if (this.deadLetters.length > DEAD_LETTERS_KEPT) this.deadLetters.shift();
  }

  async #backOff(refusals: number): Promise<void> {
    const { minBackoffSeconds, maxBackoffSeconds } = this.#options;
    const seconds = Math.min(minBackoffSeconds * 2 ** (refusals - 1), maxBackoffSeconds);
    // The only rejection is that of the signal, which #push sees itself.
    await wait(seconds * 1_000, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  async #push(message: BusMessage): Promise<boolean> {
    await this.#enter();
    try {
      if (this.#closing.signal.aborted) return false;
      const { name, endpoint, ackDeadlineSeconds } = this.#options;
      const late = AbortSignal.timeout(ackDeadlineSeconds * 1_000);
      const signal = AbortSignal.any([this.#closing.signal, late]);
      return await push(endpoint, pushBody(message, name), signal);
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#inFlight < MAX_IN_FLIGHT || this.#closing.signal.aborted) {
      this.#inFlight += 1;
      return;
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Hands the place to who waits longest, so that nobody slips in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inFlight -= 1;
    else next();
  }
}

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
  });
}
