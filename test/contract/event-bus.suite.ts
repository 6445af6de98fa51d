import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, type TestContext } from 'vitest';
import { z } from 'zod';
import type { PushSettings } from '#infra/local/stack/pubsub-setup.ts';
import type { EventPublisher } from '#shared/ports/ports.ts';
import { eventually } from '../support/eventually.ts';
import { openPushEndpoint, type PushEndpoint } from '../support/processes/push-endpoint.ts';

export interface BusSettings extends PushSettings {
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

const decode = (data: string): unknown => JSON.parse(Buffer.from(data, 'base64').toString());
const dataOf = (push: { body: string } | undefined) => decode(parse(push).message.data);

/**
 * What every event bus does, run on each implementation with the shortest timings that it keeps to. Each
 * test opens a bus and an endpoint of its own; they run side by side, since most of them wait.
 */
export function describeEventBus(
  name: string,
  backend: { timings: PushSettings; open: (settings: BusSettings) => Promise<OpenedBus> },
): void {
  const { timings, open } = backend;

  async function start(
    { onTestFinished }: TestContext,
    answer: Parameters<typeof openPushEndpoint>[0],
  ): Promise<{ bus: OpenedBus; endpoint: PushEndpoint; publish: (data: object) => Promise<void> }> {
    const endpoint = await openPushEndpoint(answer);
    const bus = await open({ ...timings, endpoint: endpoint.url });
    onTestFinished(async () => {
      await bus.close();
      await endpoint.close();
    });
    const publish = (data: object) => bus.publisher.publish({ topic: 'compaction', data });
    return { bus, endpoint, publish };
  }

  describe.concurrent(`event bus: ${name}`, () => {
    test('the event bus pushes the events of its topic in the body that Pub/Sub sends', async (context) => {
      const { bus, endpoint } = await start(context, () => 204);
      const data = { schemaVersion: 1, conversationId: 'c1', text: 'ä😀\u0000' };

      await bus.publisher.publish({ topic: 'events', data: { other: true } });
      await bus.publisher.publish({ topic: 'compaction', data, attributes: { kind: 'need' } });
      await endpoint.untilReceived(1, SOON_MS);

      const [push] = endpoint.received;
      const { message, subscription } = parse(push);
      expect(push).toMatchObject({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      expect(decode(message.data)).toEqual(data);
      expect(message.attributes).toEqual({ kind: 'need' });
      expect(message.message_id).toBe(message.messageId);
      expect(message.publish_time).toBe(message.publishTime);
      expect(subscription).toBe(bus.subscription);
    });

    test('the event bus takes the statuses 200, 201 and 204 as an acknowledgement, and no other', async (context) => {
      const acknowledged = [200, 201, 204];
      const refused = [202, 301, 400, 404, 429, 500, 503];
      const seen = new Set<string>();
      const { endpoint, publish } = await start(context, (push) => {
        const { messageId, data } = parse(push).message;
        if (seen.has(messageId)) return 204;
        seen.add(messageId);
        return z.object({ status: z.number() }).parse(decode(data)).status;
      });

      await Promise.all([...acknowledged, ...refused].map((status) => publish({ status })));
      await endpoint.untilReceived(acknowledged.length + 2 * refused.length, SOON_MS);
      await wait(timings.maxBackoffSeconds * 1_000);

      const pushes = endpoint.received.map((push) => JSON.stringify(parse(push).message));
      expect(pushes).toHaveLength(acknowledged.length + 2 * refused.length);
      expect(new Set(pushes).size).toBe(acknowledged.length + refused.length);
    });

    test('the event bus pushes again when the connection is cut', async (context) => {
      const { endpoint, publish } = await start(context, (_push, index) =>
        index === 0 ? null : 204,
      );
      await publish({ a: 1 });
      await endpoint.untilReceived(1, SOON_MS);

      endpoint.cut();
      await endpoint.untilReceived(2, SOON_MS);

      expect(dataOf(endpoint.received[1])).toEqual({ a: 1 });
    });

    test('the event bus pushes again when no answer comes before the acknowledgement deadline', async (context) => {
      const { endpoint, publish } = await start(context, (_push, index) =>
        index === 0 ? null : 204,
      );

      const publishedAtMs = performance.now();
      await publish({ a: 1 });
      await endpoint.untilReceived(2, timings.ackDeadlineSeconds * 1_000 + SOON_MS);

      // From the publish on: a busy machine may notice the first push late.
      const waitedMs = (endpoint.received[1]?.atMs ?? 0) - publishedAtMs;
      expect(waitedMs).toBeGreaterThan(timings.ackDeadlineSeconds * 900);
    });

    test('the event bus makes a dead letter of an event that is refused too often, and delivers the others', async (context) => {
      const isPoison = (push: { body: string }) => 'poison' in Object(dataOf(push));
      const { bus, endpoint, publish } = await start(context, (push) =>
        isPoison(push) ? 500 : 204,
      );

      const publishedAtMs = performance.now();
      await publish({ poison: true });
      await publish({ fine: true });
      const letters = await eventually('a dead letter', async () => {
        const found = await bus.deadLetters();
        return found.length > 0 ? found : undefined;
      });

      const refused = endpoint.received.filter(isPoison);
      const delivered = endpoint.received.filter((push) => !isPoison(push));
      expect(letters.map(decode)).toEqual([{ poison: true }]);
      expect(refused).toHaveLength(timings.maxDeliveryAttempts);
      expect(delivered.map(dataOf)).toEqual([{ fine: true }]);
      expect((refused.at(-1)?.atMs ?? 0) - publishedAtMs).toBeGreaterThan(
        (timings.maxDeliveryAttempts - 1) * timings.minBackoffSeconds * 900,
      );
    });
  });
}
