import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { AppError } from '#shared/errors.ts';
import type { EventPublisher } from '#shared/ports/ports.ts';
import { neverAborted, see } from '../support/compaction/compacted-conversation.ts';
import {
  storedConversation,
  startFaultStack,
  type FaultStack,
} from '../support/processes/fault-stack.ts';

const THRESHOLD = 1_000;
const LONG = 'The way from the harbour to the temple is long, so tell me of each stop. '.repeat(60);

/** A bus that can be down. */
function createBus() {
  const published: string[] = [];
  let isDown = false;
  const publisher: EventPublisher = {
    publish: async ({ data }) => {
      await Promise.resolve();
      if (isDown)
        throw new AppError({
          status: 'UNAVAILABLE',
          reason: 'EVENT_BUS_UNAVAILABLE',
          message: 'down',
          publicMessage: 'down',
          retryable: true,
        });
      if ('conversationId' in data) published.push(String(data.conversationId));
    },
  };
  return { publisher, published, setDown: (down: boolean) => void (isDown = down) };
}

let bus: ReturnType<typeof createBus>;
let stack: FaultStack;
beforeEach(async () => {
  bus = createBus();
  stack = await startFaultStack({
    publisher: bus.publisher,
    environment: { THRESHOLD_TOKENS: String(THRESHOLD) },
  });
});
afterEach(() => stack.stop());

const ids = (count: number) => Array.from({ length: count }, () => randomUUID());

/** Serves every event that was published, each `times` times. */
async function serveEvents(times = 1): Promise<void> {
  for (const id of bus.published.splice(0))
    for (let delivery = 0; delivery < times; delivery++) await stack.compact(id);
}

describe('failing publication of events', () => {
  test('messages are answered, and keep their compaction requests, while publishing fails', async () => {
    bus.setDown(true);
    const conversations = ids(10);

    for (const id of conversations) {
      expect(await stack.send(id, LONG)).toMatchObject({ http: 200 });
      expect((await storedConversation(stack.store, id)).compactionRequests.auto).toBeDefined();
    }

    expect(bus.published).toEqual([]);
    const warnings = stack.chat.logs.filter(({ event }) => event === 'compaction_publish_failed');
    expect(warnings).toHaveLength(10);
  });
});

describe('once events can be published again', () => {
  test('each conversation’s next message publishes its request once publishing works, and all are compacted', async () => {
    bus.setDown(true);
    const conversations = ids(5);
    for (const id of conversations) await stack.send(id, LONG);
    bus.setDown(false);
    stack.clock.shift(60_001);

    for (const id of conversations) await stack.send(id, 'Thank you.');
    expect(new Set(bus.published)).toEqual(new Set(conversations));
    await serveEvents();

    for (const id of conversations) {
      const { conversation } = await see(stack.store, id);
      expect(conversation).toMatchObject({ generation: 1, compactionRequests: {}, lastSeq: 2 });
    }
  });

  test('a sweep publishes all remaining requests once publishing works, and all are compacted', async () => {
    bus.setDown(true);
    const conversations = ids(10);
    for (const id of conversations) {
      await stack.send(id, LONG);
      await stack.send(id, 'Thank you.');
    }
    bus.setDown(false);
    stack.clock.shift(60_001);

    await runSweep({ ...stack.worker, publisher: bus.publisher }, neverAborted());
    expect(new Set(bus.published)).toEqual(new Set(conversations));
    await serveEvents();

    const conversationDocuments = await Promise.all(
      conversations.map((id) => storedConversation(stack.store, id)),
    );
    expect(conversationDocuments.filter(({ generation }) => generation !== 1)).toEqual([]);
    expect(
      conversationDocuments.filter(({ compactionRequests }) => compactionRequests.auto),
    ).toEqual([]);
  });
});

describe('events that come twice, late or in another order', () => {
  test('events delivered five times make one swap for each conversation', async () => {
    const conversations = ids(5);
    for (const id of conversations) await stack.send(id, LONG);
    for (const id of conversations) await stack.send(id, 'Thank you.');

    bus.published.reverse();
    await serveEvents(5);

    for (const id of conversations) {
      const { conversation, job } = await see(stack.store, id);
      expect(conversation.generation).toBe(1);
      expect(job?.records.filter(({ state }) => state === 'COMPACTED')).toHaveLength(1);
    }
  });

  test('events delivered an hour after the compaction cost no model call and change nothing', async () => {
    const id = randomUUID();
    await stack.send(id, LONG);
    await stack.send(id, 'Thank you.');
    await stack.compact(id);
    const before = await see(stack.store, id);
    stack.fakeGemini.clearJournal();

    stack.clock.shift(3_600_000);
    const result = await stack.compact(id);

    expect(result).toEqual({ kind: 'done', reason: 'NO_REQUEST' });
    expect(stack.fakeGemini.journal()).toEqual([]);
    expect((await see(stack.store, id)).items).toEqual(before.items);
  });
});
