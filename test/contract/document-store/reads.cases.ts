import { describe, expect, test } from 'vitest';
import { InvalidWriteError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { newPath, put, timeAt } from '#test/support/stores/document-store-cases.ts';

export function describeReads(store: DocumentStore): void {
  describe('get', () => {
    test('get returns documents in the requested order, undefined for missing ones', async () => {
      const [a, b] = [newPath(), newPath()];
      await store.commit([
        { op: 'create', path: a, fields: { at: 'a' } },
        { op: 'create', path: b, fields: { at: 'b' } },
      ]);

      const found = await store.get([b, newPath(), a, b]);

      expect(found.map((document) => document?.fields)).toEqual([
        { at: 'b' },
        undefined,
        { at: 'a' },
        { at: 'b' },
      ]);
      expect(found[0]?.path).toBe(b);
    });

    test('get of no paths returns nothing', async () => {
      expect(await store.get([])).toEqual([]);
    });

    test('get returns the update time that the commit returned', async () => {
      const path = newPath();

      const updateTime = await put(store, path, { a: 1 });

      expect(updateTime).not.toBe('');
      expect(await timeAt(store, path)).toBe(updateTime);
    });

    test('get finds nothing at the parent of a document', async () => {
      const parent = newPath();
      await put(store, `${parent}/parts/1`, { a: 1 });

      expect(await store.get([parent])).toEqual([undefined]);
    });

    test('get refuses the path of a collection', async () => {
      await expect(store.get(['things'])).rejects.toThrow(InvalidWriteError);
    });
  });
}
