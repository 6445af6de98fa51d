import { describe, expect, test } from 'vitest';
import {
  createMemoryDocumentStore,
  type StoreOperation,
} from '#infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { watched } from '../support/stores/watched-collection.ts';

const PATH = 'things/x';

async function seedParts(store: DocumentStore, count: number): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  await store.commit(
    indexes.map((index) => ({ op: 'create', path: `${PATH}/parts/${index}`, fields: {} })),
  );
}

async function countParts(store: DocumentStore): Promise<number> {
  return (await store.query({ collection: `${PATH}/parts`, limit: 1_000 })).length;
}

/** A store whose deletion calls `atBatch` with 1, 2, … before each batch. */
function storeThat(atBatch: (batch: number) => void): DocumentStore {
  let batches = 0;
  return createMemoryDocumentStore({
    beforeOperation: async (operation: StoreOperation) => {
      if (operation.name !== 'deleteBelow') return;
      batches += 1;
      atBatch(batches);
    },
  });
}

describe('hooks of the memory store', () => {
  test('the memory store’s hook runs before each hundred documents of a deletion, which can be repeated', async () => {
    const store = storeThat((batch) => {
      if (batch === 3) throw new StoreUnavailableError({ operation: 'deleteBelow' });
    });
    await seedParts(store, 250);

    await expect(store.deleteBelow(PATH)).rejects.toThrow(StoreUnavailableError);

    expect(await countParts(store)).toBe(50);
    expect(await store.deleteBelow(PATH)).toBe(50);
  });

  test('the memory store’s hook lets a signal stop a deletion between two batches', async () => {
    const controller = new AbortController();
    const store = storeThat((batch) => {
      if (batch === 2) controller.abort(new Error('over'));
    });
    await seedParts(store, 250);

    await expect(store.deleteBelow(PATH, controller.signal)).rejects.toThrow('over');

    expect(await countParts(store)).toBe(150);
  });

  test('the memory store’s hook runs once before the first documents of a watch', async () => {
    const operations: StoreOperation[] = [];
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        operations.push(operation);
      },
    });
    const batches = watched(store, 'things');

    await batches.next();
    await store.commit([{ op: 'create', path: PATH, fields: {} }]);
    await batches.next();

    expect(operations.map(({ name }) => name)).toEqual(['watch', 'commit']);
  });
});
