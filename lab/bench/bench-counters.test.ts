import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { openForTest } from '#test/support/open-for-test.ts';
import { countStore } from './worlds/counted-store.ts';
import { startWireCounter } from './worlds/wire-counter.ts';

test('a counted store counts documents as they are billed, absent ones too', async () => {
  const { store, take } = countStore(createMemoryDocumentStore());

  await store.commit([
    { op: 'create', path: 'a/1', fields: { n: 1 } },
    { op: 'create', path: 'a/2', fields: { n: 2 } },
  ]);
  await store.commit([{ op: 'delete', path: 'a/2' }]);
  await store.get(['a/1', 'a/2']);
  await store.query({ collection: 'a', limit: 10 });
  await store.query({ collection: 'nothing', limit: 10 });

  expect(take()).toMatchObject({ reads: 4, writes: 2, deletes: 1 });
});

test('a counted store begins anew once its counts are taken', async () => {
  const { store, take } = countStore(createMemoryDocumentStore());
  await store.get(['a/1']);
  take();

  await store.get(['a/2']);

  expect(take()).toMatchObject({ reads: 1, batches: [] });
});

test('time with two calls under way counts once', async () => {
  const { store, take } = countStore(createMemoryDocumentStore());
  const startedAt = performance.now();

  await Promise.all([store.get(['a/1']), store.get(['a/2'])]);

  expect(take().busyMs).toBeLessThanOrEqual(performance.now() - startedAt);
});

test('a wire counter passes on what it counts', async () => {
  const server = createServer((_, response) => response.end('x'.repeat(1_000)));
  const wire = await startWireCounter((await openForTest(server)).host);
  onTestFinished(() => wire.close());

  const response = await fetch(`http://${wire.host}/`);

  expect(await response.text()).toHaveLength(1_000);
  expect(wire.bytes()).toBeGreaterThan(1_000);
  expect(wire.bytes()).toBeLessThan(2_000);
});
