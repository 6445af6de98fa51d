import { createCompactionHandler } from '#functions/worker/push/handle-push.ts';
import { createMemoryBus } from '#infra/local/embedded/memory-bus.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { historiesOf } from '#test/support/chat/lifecycle.ts';
import { buildDue, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { madeUpAnswer } from '#test/support/compaction/conversation-builder.ts';
import { overloaded } from '#test/support/model-down.ts';
import { passTime } from '#test/support/pass-time.ts';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';

const CONVERSATIONS = 200;
/** Calls that the model refuses, being overloaded: every fifth one, as long as there are conversations enough. */
const REFUSALS = CONVERSATIONS / 5;

/** A model that remembers how many calls it served, and how many it refused. */
function createBusyModel() {
  const load = { calls: 0, refused: 0 };
  const model = createScriptedModel({
    answers: [
      async () => {
        load.calls += 1;
        if (load.calls % 5 === 0 && load.refused < REFUSALS) {
          load.refused += 1;
          throw overloaded();
        }
        return snapshotAnswer();
      },
    ],
  });
  return { model, load };
}

/** Worker and bus with real pushes between them. */
async function startWorker() {
  const { model, load } = createBusyModel();
  const server = createServer();
  const { url, close } = await openServer(server);
  const bus = createMemoryBus({
    subscriptions: [
      {
        topic: 'compaction',
        name: 'projects/demo-recap/subscriptions/recap-compaction',
        endpoint: `${url}/`,
        minBackoffSeconds: 0.2,
      },
    ],
  });
  const clock = createManualClock(new Date('2026-01-02T03:06:05.000Z'));
  const bench = compactionBench({ model, publisher: bus, clock });
  const handle = createCompactionHandler(bench);
  server.on('request', (request, response) => void handle(request, response));
  onTestFinished(async () => {
    await bus.close();
    await close();
  });
  return { bus, bench, load };
}

test('many conversations that are due at once are each compacted once, though half of the events are lost and the model is overloaded at times', async () => {
  const { bus, bench, load } = await startWorker();
  const turns = [1, 2, 3, 4].map((seq) => ({ answer: madeUpAnswer(seq).repeat(3) }));
  const ids: string[] = [];
  for (let i = 0; i < CONVERSATIONS; i++) ids.push(await buildDue(bench, { turns }));

  // Every second event is lost on its way; the sweep finds those conversations.
  for (const conversationId of ids.filter((_, i) => i % 2 === 0))
    await bus.publish({
      topic: 'compaction',
      data: { schemaVersion: 1, conversationId, requestId: 'request-1' },
    });
  await bus.publish({ topic: 'compaction', data: sweepEvent });
  await passTime(bench.clock, bus.idle());

  const conversationDocuments = await Promise.all(
    ids.map((id) => readConversation(bench.store, id)),
  );
  const handled = bench.logged.filter(({ event }) => event === 'compaction_push_handled');
  expect(
    conversationDocuments.filter((conversation) => conversation?.value.generation === 1),
  ).toHaveLength(CONVERSATIONS);
  expect(
    conversationDocuments.filter((conversation) => conversation?.value.compactionRequests.auto),
  ).toEqual([]);
  const histories = await Promise.all(ids.map((id) => historiesOf(bench, id)));
  expect(histories.filter(({ length }) => length !== 1)).toEqual([]);
  expect(load.calls).toBe(CONVERSATIONS + REFUSALS);
  expect(bus.deadLetters()).toEqual([]);
  // The sweep may meet needs whose event is on its way, and a busy one comes back.
  expect(handled.length).toBeGreaterThanOrEqual(CONVERSATIONS);
  expect(handled.length).toBeLessThanOrEqual(2 * CONVERSATIONS + REFUSALS);
}, 180_000);
