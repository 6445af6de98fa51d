import { describe, expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { EventPublisher, Write } from '#shared/ports/ports.ts';
import { chaosPublisher } from '../chaos-publisher.ts';
import { chaosStore } from '../chaos-store.ts';
import type { EntryMessage, EntrySettings } from '../phones/entry-settings.ts';
import { fastClock } from '../fast-clock.ts';
import { createRandom } from '../random.ts';
import { GuardLostError } from '#shared/errors.ts';

const history = 'conversations/c1/histories/00000001';

const swapBy = (by: string): Write[] => [
  { op: 'create', path: history, fields: { generation: 1, by } },
];

function bench(broken?: EntrySettings['broken'], pausedSwapShare = 0) {
  const inner = createMemoryDocumentStore();
  const told: EntryMessage[] = [];
  const needs: string[] = [];
  const store = chaosStore(inner, {
    settings: { broken, pausedSwapShare },
    random: createRandom(1),
    clock: fastClock(systemClock, { startedAtMs: Date.now(), timeScale: 1_000_000 }),
    tell: (message) => told.push(message),
    onRequest: (requestId) => needs.push(requestId),
  });
  return { inner, store, told, needs };
}

const finish = (path: string): Write => ({
  op: 'update',
  path,
  fields: { lastSeq: 2, 'compactionRequests.auto': { requestId: 'r1' } },
  guard: { exists: true },
});

describe('the store of a chaos run', () => {
  test('tells which generation was made, and by whom', async () => {
    const { store, told } = bench();

    await store.commit(swapBy('a'));

    expect(told).toEqual([{ kind: 'generation', conversationId: 'c1', generation: 1, by: 'a' }]);
  });

  test('keeps the fence unless it is told to break it', async () => {
    const { store, told } = bench();
    await store.commit(swapBy('a'));

    await expect(store.commit(swapBy('b'))).rejects.toThrow(GuardLostError);

    expect(told).toHaveLength(1);
  });

  test('overwrites a generation where the fence is broken', async () => {
    const { store, told } = bench('fence');
    await store.commit(swapBy('a'));

    await store.commit(swapBy('b'));

    const [stored] = await store.get([history]);
    expect(stored?.fields['by']).toBe('b');
    expect(told).toHaveLength(2);
  });

  test('notes no need where the outbox is broken, and the rest of the batch', async () => {
    const { store, needs } = bench('outbox');
    await store.commit([{ op: 'create', path: 'conversations/c1', fields: { lastSeq: 1 } }]);

    await store.commit([finish('conversations/c1')]);

    const [conversation] = await store.get(['conversations/c1']);
    expect(conversation?.fields).toEqual({ lastSeq: 2 });
    expect(needs).toEqual(['r1']);
  });

  test('lets a swap stand still, and nothing else', async () => {
    const { store, told } = bench(undefined, 1);

    await store.commit([{ op: 'create', path: 'conversations/c1', fields: { lastSeq: 1 } }]);
    await store.commit(swapBy('a'));

    expect(told.map(({ kind }) => kind)).toEqual(['fault', 'generation']);
  });
});

describe('the publisher of a chaos run', () => {
  function publisherBench(settings: Pick<EntrySettings, 'broken' | 'lostPublishShare'>) {
    const published: object[] = [];
    const own = new Set(['r1']);
    const inner: EventPublisher = {
      publish: ({ data }) => Promise.resolve(void published.push(data)),
    };
    const publisher = chaosPublisher(inner, {
      settings,
      random: createRandom(1),
      tell: () => undefined,
      takeOwnRequest: (requestId) => own.delete(requestId),
    });
    const publish = async (requestId: string) =>
      publisher.publish({ topic: 'compaction', data: { requestId } }).catch(() => undefined);
    return { publish, published, publisher };
  }

  test('hands everything on where nothing is lost', async () => {
    const { publish, published } = publisherBench({ lostPublishShare: 0 });

    await publish('r1');
    await publish('r1');

    expect(published).toHaveLength(2);
  });

  test('loses requests for compaction, and events of another topic never', async () => {
    const { publish, published, publisher } = publisherBench({ lostPublishShare: 1 });

    await publish('r1');
    await publisher.publish({ topic: 'events', data: { requestId: 'r1' } });

    expect(published).toHaveLength(1);
  });

  test('publishes a need only once, and only its own, where the sweep is broken', async () => {
    const { publish, published } = publisherBench({ broken: 'sweep', lostPublishShare: 0 });

    await publish('r1');
    await publish('r1');
    await publish('of another process');

    expect(published).toEqual([{ requestId: 'r1' }]);
  });
});
