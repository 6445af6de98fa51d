import { expect, onTestFinished, test } from 'vitest';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue } from '#test/support/compaction/compacted-conversation.ts';
import { requestFor } from '#test/support/processes/pushing.ts';

const POISONED = 'poisoned';

/** A store in which the worker's first look at one conversation is a defect, every time. */
function createPoisonedStore() {
  const looks = { poisoned: 0 };
  const store = createMemoryDocumentStore({
    beforeOperation: async (operation) => {
      await Promise.resolve();
      const isLook = operation.name === 'get' && operation.paths.length === 2;
      if (!isLook || operation.paths[1] !== compactionJobPath(POISONED)) return;
      looks.poisoned += 1;
      throw new TypeError('cannot read properties of undefined');
    },
  });
  return { store, looks };
}

async function startHost() {
  const { store, looks } = createPoisonedStore();
  const logged: { severity: string; event: string }[] = [];
  const host = await startEmbeddedHost({
    environment: stackEnvironment({ shell: {}, model: { kind: 'stand-in' } }),
    push: { minBackoffSeconds: 0.005, maxBackoffSeconds: 0.02, maxDeliveryAttempts: 8 },
    overrides: {
      store,
      model: {
        ...createScriptedModel({ answers: [snapshotAnswer()] }),
        // oxlint-disable-next-line require-yield -- nobody chats here
        stream: async function* () {
          await Promise.reject(new Error('nobody chats here'));
        },
      },
      logger: { log: (severity, event) => logged.push({ severity, event }) },
    },
  });
  onTestFinished(() => host.stop());
  const publish = async (...events: object[]) => {
    for (const data of events) await host.bus.publish({ topic: 'compaction', data });
    await host.bus.idle();
  };
  return { host, store, looks, logged, publish };
}

test('an event that always fails is dead-lettered after eight deliveries; others pass, and its conversation stays', async () => {
  const { host, store, looks, logged, publish } = await startHost();
  await buildDue({ store }, { conversationId: POISONED });
  const healthy = await Promise.all([buildDue({ store }), buildDue({ store })]);
  const storedOf = async (id: string) => (await readConversation(store, id))?.value;
  const before = await storedOf(POISONED);

  await publish(...[POISONED, ...healthy].map(requestFor));
  await publish(sweepEvent);

  const [letter, ...more] = host.bus.deadLetters();
  expect(more).toEqual([]);
  expect(Buffer.from(letter?.message.data ?? '', 'base64').toString()).toContain(POISONED);
  expect(letter?.deliveryAttempts).toBe(8);
  expect(looks.poisoned).toBe(8);
  const failures = logged.filter(({ event }) => event === 'compaction_push_failed');
  expect(failures.map(({ severity }) => severity)).toEqual(
    Array.from({ length: 8 }, () => 'ERROR'),
  );
  for (const id of healthy)
    expect(await storedOf(id)).toMatchObject({ generation: 1, compactionRequests: {} });
  const { generation, state, lastSeq } = before ?? {};
  expect(await storedOf(POISONED)).toMatchObject({ generation, state, lastSeq });
});
