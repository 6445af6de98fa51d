import { describe, expect, test } from 'vitest';
import { GuardLostError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { EXISTS, fieldsAt, newPath, put } from '#test/support/stores/document-store-cases.ts';

export function describeGuards(store: DocumentStore): void {
  describe('guards', () => {
    test('create loses against an existing document, which stays', async () => {
      const path = newPath();
      await put(store, path, { by: 'first' });

      await expect(put(store, path, { by: 'second' })).rejects.toThrow(GuardLostError);

      expect(await fieldsAt(store, path)).toEqual({ by: 'first' });
    });

    test('create succeeds again after a delete, with another update time', async () => {
      const path = newPath();
      const first = await put(store, path, { a: 1 });
      await store.commit([{ op: 'delete', path }]);

      const second = await put(store, path, { a: 1 });

      expect(second).not.toBe(first);
    });

    test('update with the update time that was read changes the document', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1, b: 1 });

      const [next] = await store.commit([
        { op: 'update', path, fields: { a: 2 }, guard: { updateTime } },
      ]);

      expect(await fieldsAt(store, path)).toEqual({ a: 2, b: 1 });
      expect(next).not.toBe(updateTime);
    });

    test('update with an old update time loses', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      await store.commit([{ op: 'update', path, fields: { a: 2 }, guard: EXISTS }]);

      const late = store.commit([{ op: 'update', path, fields: { a: 3 }, guard: { updateTime } }]);

      await expect(late).rejects.toThrow(GuardLostError);
      expect(await fieldsAt(store, path)).toEqual({ a: 2 });
    });

    test.each(['', '0.0', 'yesterday'])(
      'update with the never given time %j loses',
      async (never) => {
        const path = newPath();
        await put(store, path, { a: 1 });
        const guard = { updateTime: never };

        const late = store.commit([{ op: 'update', path, fields: { a: 3 }, guard }]);

        await expect(late).rejects.toThrow(GuardLostError);
      },
    );

    test('update with the time of a deleted and recreated document loses', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      await store.commit([{ op: 'delete', path }]);
      await put(store, path, { a: 1 });

      const late = store.commit([{ op: 'update', path, fields: { a: 3 }, guard: { updateTime } }]);

      await expect(late).rejects.toThrow(GuardLostError);
    });

    test.each([
      ['update by existence', 'update', false],
      ['update by update time', 'update', true],
      ['delete by existence', 'delete', false],
      ['delete by update time', 'delete', true],
    ] as const)('%s loses on a missing document', async (_name, op, isTimed) => {
      const path = newPath();
      const other = await put(store, newPath(), { a: 1 });
      const guard = isTimed ? { updateTime: other } : EXISTS;
      const write: Write =
        op === 'update' ? { op, path, fields: { a: 1 }, guard } : { op, path, guard };

      await expect(store.commit([write])).rejects.toThrow(GuardLostError);

      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('delete with the update time that was read removes the document', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });

      const times = await store.commit([{ op: 'delete', path, guard: { updateTime } }]);

      expect(times).toEqual(['']);
      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('delete with an old update time loses', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      await store.commit([{ op: 'update', path, fields: { a: 2 }, guard: EXISTS }]);

      const late = store.commit([{ op: 'delete', path, guard: { updateTime } }]);

      await expect(late).rejects.toThrow(GuardLostError);
      expect(await fieldsAt(store, path)).toEqual({ a: 2 });
    });

    test('delete without a guard succeeds on a missing document', async () => {
      expect(await store.commit([{ op: 'delete', path: newPath() }])).toEqual(['']);
    });

    test('an update without fields checks its guard and changes nothing', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      const touch: Write = { op: 'update', path, fields: {}, guard: { updateTime } };

      expect(await store.commit([touch])).toEqual([updateTime]);

      await store.commit([{ op: 'update', path, fields: { a: 2 }, guard: EXISTS }]);
      await expect(store.commit([touch])).rejects.toThrow(GuardLostError);
    });
  });
}
