import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { EventPublisher } from '#shared/ports/ports.ts';
import { neverAborted, see } from '#test/support/compaction/compacted-conversation.ts';
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

/** Generation of each conversation, and how often it was swapped; none has a request left. */
async function swapsOf(conversations: readonly string[]) {
  const seen = await Promise.all(conversations.map((id) => see(stack.store, id)));
  return seen.map(({ conversation, job }) => ({
    generation: conversation.generation,
    swaps: job?.records.filter(({ state }) => state === 'COMPACTED').length,
    requests: conversation.compactionRequests,
  }));
}

const once = { generation: 1, swaps: 1, requests: {} };

test('messages are answered while publishing fails, and their requests are published by the next message or a sweep', async () => {
  bus.setDown(true);
  const [talking, silent] = [ids(2), ids(3)];
  for (const id of [...talking, ...silent]) {
    expect(await stack.send(id, LONG)).toMatchObject({ http: 200 });
    expect((await storedConversation(stack.store, id)).compactionRequests.auto).toBeDefined();
  }
  for (const id of silent) await stack.send(id, 'Thank you.');
  expect(bus.published).toEqual([]);
  const warnings = stack.chat.logs.filter(({ event }) => event === 'compaction_publish_failed');
  expect(warnings.length).toBeGreaterThanOrEqual(5);
  bus.setDown(false);
  stack.clock.shift(60_001);

  for (const id of talking) await stack.send(id, 'Thank you.');
  expect(new Set(bus.published)).toEqual(new Set(talking));
  await serveEvents();
  await runSweep({ ...stack.worker, publisher: bus.publisher }, neverAborted());
  expect(new Set(bus.published)).toEqual(new Set(silent));
  await serveEvents();

  expect(await swapsOf([...talking, ...silent])).toEqual(Array.from({ length: 5 }, () => once));
});

test('events delivered five times and in another order make one swap for each conversation', async () => {
  const conversations = ids(3);
  for (const id of conversations) await stack.send(id, LONG);
  for (const id of conversations) await stack.send(id, 'Thank you.');

  bus.published.reverse();
  await serveEvents(5);
  stack.fakeGemini.clearJournal();
  stack.clock.shift(3_600_000);
  const late = await stack.compact(conversations[0] ?? '');

  expect(await swapsOf(conversations)).toEqual(conversations.map(() => once));
  expect(late).toEqual({ kind: 'done', reason: 'NO_REQUEST' });
  expect(stack.fakeGemini.journal()).toEqual([]);
});
