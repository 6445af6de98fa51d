import { describe, expect, test } from 'vitest';
import { InvalidWriteError } from '#shared/errors.ts';
import type { DocumentFields, DocumentStore, Write } from '#shared/ports/ports.ts';
import {
  EXISTS,
  fieldsAt,
  newCollection,
  newPath,
  put,
  text,
} from '#test/support/stores/document-store-cases.ts';

/** Firestore's largest value, in bytes of UTF-8. */
const MAX_VALUE_BYTES = 1_048_487;

export function describeLimits(store: DocumentStore): void {
  /** A document of exactly this size: two fields, so that neither is too large. */
  function fieldsOf(path: string, bytes: number): DocumentFields {
    const frame = path.length + 1 + 16 + 32 + 2 * (2 + 1);
    return { a: text(500_000), b: text(bytes - frame - 500_000) };
  }

  describe('limits', () => {
    test('the store takes a value of 1,048,487 bytes', async () => {
      const path = 'things/largest-value';
      await store.commit([{ op: 'delete', path }]);

      await put(store, path, { a: text(MAX_VALUE_BYTES) });

      expect(await fieldsAt(store, path)).toEqual({ a: text(MAX_VALUE_BYTES) });
    });

    test.each([
      ['one byte more', text(MAX_VALUE_BYTES + 1)],
      ['fewer characters, more bytes', '€'.repeat(Math.ceil((MAX_VALUE_BYTES + 1) / 3))],
    ])('the store refuses a value of %s', async (_name, value) => {
      await expect(put(store, newPath(), { a: value })).rejects.toThrow(InvalidWriteError);
    });

    test('the store takes a document of exactly 1 MiB', async () => {
      const path = newPath();
      const fields = fieldsOf(path, 1_048_576);

      await put(store, path, fields);

      expect(await fieldsAt(store, path)).toEqual(fields);
    });

    test('the store refuses a document one byte over 1 MiB', async () => {
      const path = newPath();

      const created = put(store, path, fieldsOf(path, 1_048_577));

      await expect(created).rejects.toThrow(InvalidWriteError);
    });

    test('the store refuses an update that would make a document larger than 1 MiB', async () => {
      const path = newPath();
      const fields = fieldsOf(path, 1_048_576);
      await put(store, path, fields);

      const grown = store.commit([{ op: 'update', path, fields: { c: 'more' }, guard: EXISTS }]);

      await expect(grown).rejects.toThrow(InvalidWriteError);
      expect(await fieldsAt(store, path)).toEqual(fields);
    });

    test('the store takes a commit of 500 writes and refuses 501', async () => {
      const collection = newCollection();
      const writes = Array.from({ length: 501 }, (_item, index): Write => ({
        op: 'create',
        path: `${collection}/${index}`,
        fields: {},
      }));

      await expect(store.commit(writes)).rejects.toThrow(InvalidWriteError);

      expect(await store.commit(writes.slice(0, 500))).toHaveLength(500);
    });

    test('the store takes a commit a little below 3.5 MiB', async () => {
      const writes = [0, 1, 2, 3].map((): Write => ({
        op: 'create',
        path: newPath(),
        fields: { a: text(917_000) },
      }));

      expect(await store.commit(writes)).toHaveLength(4);
    });

    test('the store refuses a commit over 3.5 MiB at once', async () => {
      const writes = [0, 1, 2, 3].map((): Write => ({
        op: 'create',
        path: newPath(),
        fields: { a: text(918_000) },
      }));

      await expect(store.commit(writes)).rejects.toThrow(InvalidWriteError);
    });

    test('the store takes two documents of 40,000 small values', async () => {
      const list = Array.from({ length: 20_000 }, (_item, index) => ({ n: index }));
      const writes = [0, 1].map((): Write => ({ op: 'create', path: newPath(), fields: { list } }));

      expect(await store.commit(writes)).toHaveLength(2);
    });
  });
}
