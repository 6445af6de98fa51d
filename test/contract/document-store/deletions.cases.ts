import { describe, expect, test } from 'vitest';
import { InvalidWriteError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { newPath, put } from '#test/support/stores/document-store-cases.ts';

/** One document on each depth, and two below documents that do not exist. */
const BELOW = [
  'turns/1',
  'turns/1/parts/1',
  'turns/1/parts/1/bits/1',
  'turns2/1',
  'streams/missing/chunks/1',
  'streams/missing/chunks/gone/bits/1',
];

export function describeDeletions(store: DocumentStore): void {
  describeDeletedDocuments(store);
  describeStoppedDeletion(store);
}

/** Creates empty documents, as many commits as it takes. */
async function seedPaths(store: DocumentStore, paths: readonly string[]): Promise<void> {
  for (let start = 0; start < paths.length; start += 400) {
    const some = paths.slice(start, start + 400);
    await store.commit(some.map((path) => ({ op: 'create', path, fields: {} })));
  }
}

async function found(store: DocumentStore, paths: readonly string[]): Promise<string[]> {
  return (await store.get(paths)).flatMap((document) => document?.path ?? []);
}

function describeDeletedDocuments(store: DocumentStore): void {
  describe('deleteBelow', () => {
    test('deleteBelow deletes at any depth, also below missing documents, and counts', async () => {
      const path = newPath();
      const below = BELOW.map((rest) => `${path}/${rest}`);
      await seedPaths(store, [path, ...below]);

      expect(await store.deleteBelow(path)).toBe(BELOW.length);
      expect(await found(store, [path, ...below])).toEqual([path]);
    });

    test('deleteBelow needs no document at the path itself', async () => {
      const path = newPath();
      await seedPaths(store, [`${path}/turns/1`]);

      expect(await store.deleteBelow(path)).toBe(1);
      expect(await found(store, [`${path}/turns/1`])).toEqual([]);
    });

    test('deleteBelow keeps paths that share its prefix and documents above', async () => {
      const parent = newPath();
      const path = `${parent}/parts/c1`;
      const others = [
        parent,
        `${parent}/parts/c10`,
        `${parent}/parts/c10/turns/1`,
        `${parent}/parts/c/turns/1`,
        `${parent}/parts2/c1/turns/1`,
      ];
      await seedPaths(store, [...others, `${path}/turns/1`]);

      expect(await store.deleteBelow(path)).toBe(1);
      expect(await found(store, others)).toEqual(others);
    });

    test('deleteBelow finds nothing the second time', async () => {
      const path = newPath();
      await seedPaths(store, [`${path}/turns/1`, `${path}/turns/2`]);
      await store.deleteBelow(path);

      expect(await store.deleteBelow(path)).toBe(0);
    });

    test(
      'deleteBelow deletes more documents than one commit may hold',
      { timeout: 60_000 },
      async () => {
        const path = newPath();
        const turns = Array.from({ length: 1_250 }, (_, index) => `${path}/turns/${index}`);
        await seedPaths(store, [...turns, `${path}/streams/missing/chunks/1`]);

        expect(await store.deleteBelow(path)).toBe(1_251);
        expect(await store.query({ collection: `${path}/turns`, limit: 1 })).toEqual([]);
      },
    );

    test('deleteBelow refuses the path of a collection', async () => {
      await expect(store.deleteBelow(`${newPath()}/turns`)).rejects.toThrow(InvalidWriteError);
    });
  });
}

function describeStoppedDeletion(store: DocumentStore): void {
  describe('deleteBelow', () => {
    test('deleteBelow with a fired signal deletes nothing', async () => {
      const path = newPath();
      const turn = `${path}/turns/1`;
      await put(store, turn, {});

      const deletion = store.deleteBelow(path, AbortSignal.abort(new Error('over')));

      await expect(deletion).rejects.toThrow('over');
      expect(await found(store, [turn])).toEqual([turn]);
    });

    test('deleteBelow stops with its signal’s reason, and a repeat finishes', async () => {
      const path = newPath();
      const below = BELOW.map((rest) => `${path}/${rest}`);
      await seedPaths(store, below);
      const controller = new AbortController();

      const deletion = store.deleteBelow(path, controller.signal);
      controller.abort(new Error('over'));

      await expect(deletion).rejects.toThrow('over');
      const left = await found(store, below);
      expect(await store.deleteBelow(path)).toBe(left.length);
      expect(await found(store, below)).toEqual([]);
    });
  });
}
