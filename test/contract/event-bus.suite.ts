import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, type TestContext } from 'vitest';
import { z } from 'zod';
import type { EventPublisher } from '#shared/ports/ports.ts';
import { openPushEndpoint, type PushEndpoint } from '../support/processes/push-endpoint.ts';

interface BusTimings {
  ackDeadlineMs: number;
  minBackoffMs: number;
  maxBackoffMs: number;
  maxDeliveryAttempts: number;
}

export interface BusSettings extends BusTimings {
  endpoint: string;
}

export interface OpenedBus {
  publisher: EventPublisher;
  /** Full name of the subscription to the topic `compaction`. */
  subscription: string;
  /** The base64 data of every dead letter so far. */
  deadLetters(): Promise<string[]>;
  close(): Promise<void>;
}

const SOON_MS = 15_000;

const pushBodySchema = z.strictObject({
  message: z.strictObject({
    data: z.base64(),
    attributes: z.record(z.string(), z.string()).optional(),
    messageId: z.string().min(1),
    message_id: z.string().min(1),
    publishTime: z.iso.datetime(),
    publish_time: z.iso.datetime(),
  }),
  subscription: z.string(),
});

function parse(push: { body: string } | undefined): z.infer<typeof pushBodySchema> {
  return pushBodySchema.parse(JSON.parse(push?.body ?? ''));
}

function dataOf(push: { body: string } | undefined): unknown {
  return JSON.parse(Buffer.from(parse(push).message.data, 'base64').toString());
}

/**
 * What every event bus does, run on each implementation with the shortest timings that it keeps to. Each
 * test opens a bus and an endpoint of its own; they run side by side, since most of them wait.
 */
export function describeEventBus(
  name: string,
  backend: { timings: BusTimings; open: (settings: BusSettings) => Promise<OpenedBus> },
): void {
  const { timings, open } = backend;

  async function start(
    { onTestFinished }: TestContext,
    answer: Parameters<typeof openPushEndpoint>[0],
  ): Promise<{ bus: OpenedBus; endpoint: PushEndpoint }> {
    const endpoint = await openPushEndpoint(answer);
    const bus = await open({ ...timings, endpoint: endpoint.url });
    onTestFinished(async () => {
      await bus.close();
      await endpoint.close();
    });
    return { bus, endpoint };
  }

  describe.concurrent(`event bus: ${name}`, () => {
    test('the event bus pushes an event in the body that Pub/Sub sends', async (context) => {
      const { bus, endpoint } = await start(context, () => 204);
      const data = { schemaVersion: 1, conversationId: 'c1', text: 'ä😀\u0000' };

      await bus.publisher.publish({ topic: 'compaction', data, attributes: { kind: 'need' } });
      await endpoint.untilReceived(1, SOON_MS);

      const { message, subscription } = parse(endpoint.received[0]);
      expect(endpoint.received[0]).toMatchObject({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      expect(dataOf(endpoint.received[0])).toEqual(data);
      expect(message.attributes).toEqual({ kind: 'need' });
      expect(message.message_id).toBe(message.messageId);
      expect(message.publish_time).toBe(message.publishTime);
      expect(subscription).toBe(bus.subscription);
    });

    test('the event bus pushes an event without attributes', async (context) => {
      const { bus, endpoint } = await start(context, () => 204);

      await bus.publisher.publish({ topic: 'compaction', data: {} });
      await endpoint.untilReceived(1, SOON_MS);

      expect(parse(endpoint.received[0]).message.attributes ?? {}).toEqual({});
    });

    test.for([200, 201, 204])(
      'the event bus treats status %i as an acknowledgement',
      async (status, context) => {
        const { bus, endpoint } = await start(context, () => status);

        await bus.publisher.publish({ topic: 'compaction', data: { a: 1 } });
        await endpoint.untilReceived(1, SOON_MS);
        await wait(timings.maxBackoffMs);

        expect(endpoint.received).toHaveLength(1);
      },
    );

    test.for([202, 301, 400, 404, 429, 500, 503])(
      'the event bus pushes again after status %i',
      async (status, context) => {
        const { bus, endpoint } = await start(context, (_push, index) =>
          index === 0 ? status : 204,
        );

        await bus.publisher.publish({ topic: 'compaction', data: { a: 1 } });
        await endpoint.untilReceived(2, SOON_MS);

        expect(parse(endpoint.received[1]).message).toEqual(parse(endpoint.received[0]).message);
      },
    );

    test('the event bus pushes again when the connection is cut', async (context) => {
      const { bus, endpoint } = await start(context, (_push, index) => (index === 0 ? null : 204));
      await bus.publisher.publish({ topic: 'compaction', data: { a: 1 } });
      await endpoint.untilReceived(1, SOON_MS);

      endpoint.cut();
      await endpoint.untilReceived(2, SOON_MS);

      expect(dataOf(endpoint.received[1])).toEqual({ a: 1 });
    });

    test('the event bus pushes again when no answer comes before the acknowledgement deadline', async (context) => {
      const { bus, endpoint } = await start(context, (_push, index) => (index === 0 ? null : 204));

      const publishedAtMs = performance.now();
      await bus.publisher.publish({ topic: 'compaction', data: { a: 1 } });
      await endpoint.untilReceived(2, timings.ackDeadlineMs + SOON_MS);

      // From the publish on: a busy machine may notice the first push late.
      const waitedMs = (endpoint.received[1]?.atMs ?? 0) - publishedAtMs;
      expect(waitedMs).toBeGreaterThan(timings.ackDeadlineMs * 0.9);
    });

    test('the event bus waits at least the minimum back-off between pushes', async (context) => {
      const { bus, endpoint } = await start(context, (_push, index) => (index < 3 ? 500 : 204));

      const publishedAtMs = performance.now();
      await bus.publisher.publish({ topic: 'compaction', data: { a: 1 } });
      await endpoint.untilReceived(4, SOON_MS);

      const waitedMs = (endpoint.received[3]?.atMs ?? 0) - publishedAtMs;
      expect(waitedMs).toBeGreaterThan(3 * timings.minBackoffMs * 0.9);
    });

    test('the event bus makes a dead letter of an event that is refused too often', async (context) => {
      const { bus, endpoint } = await start(context, () => 500);

      await bus.publisher.publish({ topic: 'compaction', data: { poison: true } });
      const letters = await untilDeadLetter(bus);

      expect(letters.map((data) => Buffer.from(data, 'base64').toString())).toEqual([
        '{"poison":true}',
      ]);
      expect(endpoint.received).toHaveLength(timings.maxDeliveryAttempts);
    });

    test('the event bus delivers other events while one is refused', async (context) => {
      const { bus, endpoint } = await start(context, (push) =>
        'poison' in Object(dataOf(push)) ? 500 : 204,
      );

      await bus.publisher.publish({ topic: 'compaction', data: { poison: true } });
      await bus.publisher.publish({ topic: 'compaction', data: { fine: true } });
      await endpoint.untilReceived(2, SOON_MS);

      expect(endpoint.received.map((push) => dataOf(push))).toContainEqual({ fine: true });
    });

    test('the event bus carries an event of 1 MiB', async (context) => {
      const { bus, endpoint } = await start(context, () => 204);
      const data = { text: 'x'.repeat(1_048_576) };

      await bus.publisher.publish({ topic: 'compaction', data });
      await endpoint.untilReceived(1, SOON_MS);

      expect(dataOf(endpoint.received[0])).toEqual(data);
    });

    test('the event bus delivers each of 50 events sent at once', async (context) => {
      const { bus, endpoint } = await start(context, () => 204);
      const numbers = Array.from({ length: 50 }, (_item, index) => index);

      await Promise.all(
        numbers.map((n) => bus.publisher.publish({ topic: 'compaction', data: { n } })),
      );
      await endpoint.untilReceived(50, SOON_MS);

      const seen = new Set(endpoint.received.map((push) => JSON.stringify(dataOf(push))));
      expect(seen.size).toBe(50);
    });

    test('the event bus does not push events of another topic', async (context) => {
      const { bus, endpoint } = await start(context, () => 204);

      await bus.publisher.publish({ topic: 'events', data: { other: true } });
      await bus.publisher.publish({ topic: 'compaction', data: { n: 1 } });
      await endpoint.untilReceived(1, SOON_MS);

      expect(endpoint.received.map((push) => dataOf(push))).toEqual([{ n: 1 }]);
    });
  });
}

async function untilDeadLetter(bus: OpenedBus): Promise<string[]> {
  const giveUpAt = performance.now() + 2 * SOON_MS;
  while (performance.now() < giveUpAt) {
    const letters = await bus.deadLetters();
    if (letters.length > 0) return letters;
    await wait(50);
  }
  throw new Error('no dead letter came');
}
