import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue } from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, onTestFinished, test } from 'vitest';

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
  const publish = (conversationId: string) =>
    host.bus.publish({
      topic: 'compaction',
      data: { schemaVersion: 1, conversationId, requestId: 'request-1' },
    });
  return { host, store, looks, logged, publish };
}

describe('an event that the worker fails on every time', () => {
  test('an event that always fails is dead-lettered after eight deliveries, and others pass', async () => {
    const { host, store, looks, publish } = await startHost();
    await buildDue({ store }, { conversationId: POISONED });
    const healthy = await Promise.all([buildDue({ store }), buildDue({ store })]);

    for (const id of [POISONED, ...healthy]) await publish(id);
    await host.bus.idle();

    const letters = host.bus.deadLetters();
    expect(letters).toHaveLength(1);
    expect(Buffer.from(letters[0]?.message.data ?? '', 'base64').toString()).toContain(POISONED);
    expect(letters[0]?.deliveryAttempts).toBe(8);
    expect(looks.poisoned).toBe(8);
    for (const id of healthy)
      expect((await readConversation(store, id))?.value).toMatchObject({
        generation: 1,
        compactionRequests: {},
      });
  });

  test('an event that always fails leaves its conversation unchanged for chat and sweep', async () => {
    const { host, store, publish } = await startHost();
    await buildDue({ store }, { conversationId: POISONED });
    const before = await readConversation(store, POISONED);
    await publish(POISONED);
    await host.bus.idle();

    await host.bus.publish({ topic: 'compaction', data: sweepEvent });
    await host.bus.idle();

    expect(await readConversation(store, POISONED)).not.toBeUndefined();
    expect((await readConversation(store, POISONED))?.value).toMatchObject({
      generation: 0,
      state: 'live',
      lastSeq: before?.value.lastSeq,
    });
  });

  test('an event that always fails logs an error each time', async () => {
    const { host, store, logged, publish } = await startHost();
    await buildDue({ store }, { conversationId: POISONED });

    await publish(POISONED);
    await host.bus.idle();

    const failures = logged.filter(({ event }) => event === 'compaction_push_failed');
    expect(failures).toHaveLength(8);
    expect(failures.every(({ severity }) => severity === 'ERROR')).toBe(true);
  });
});
