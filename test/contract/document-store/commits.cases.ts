import { describe, expect, test } from 'vitest';
import { GuardLostError, InvalidWriteError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import {
  EXISTS,
  fieldsAt,
  newPath,
  put,
  timeAt,
} from '#test/support/stores/document-store-cases.ts';

export function describeCommits(store: DocumentStore): void {
  describe('commit', () => {
    test('committing no writes does nothing', async () => {
      expect(await store.commit([])).toEqual([]);
    });

    test('commit returns one update time for each write, in order', async () => {
      const [a, b, c] = [newPath(), newPath(), newPath()];
      await put(store, c, { a: 1 });

      const times = await store.commit([
        { op: 'create', path: a, fields: {} },
        { op: 'delete', path: c },
        { op: 'create', path: b, fields: {} },
      ]);

      expect(times).toEqual([await timeAt(store, a), '', await timeAt(store, b)]);
    });

    test.each([0, 1, 2])(
      'commit applies nothing when the guard of write %i is lost',
      async (lost) => {
        const paths = [newPath(), newPath(), newPath()];
        await put(store, paths[lost] ?? '', { by: 'before' });

        const commit = store.commit(
          paths.map((path): Write => ({ op: 'create', path, fields: { by: 'commit' } })),
        );

        await expect(commit).rejects.toThrow(GuardLostError);
        const found = await store.get(paths);
        expect(found.map((document) => document?.fields)).toEqual(
          paths.map((_path, index) => (index === lost ? { by: 'before' } : undefined)),
        );
      },
    );

    test('commit applies neither update nor delete beside a lost guard', async () => {
      const [a, b] = [newPath(), newPath()];
      await put(store, a, { n: 1 });
      await put(store, b, { n: 1 });

      const commit = store.commit([
        { op: 'update', path: a, fields: { n: 2 }, guard: EXISTS },
        { op: 'delete', path: b },
        { op: 'update', path: newPath(), fields: { n: 2 }, guard: EXISTS },
      ]);

      await expect(commit).rejects.toThrow(GuardLostError);
      expect([await fieldsAt(store, a), await fieldsAt(store, b)]).toEqual([{ n: 1 }, { n: 1 }]);
    });

    test('commit applies nothing beside a write that the store cannot hold', async () => {
      const path = newPath();

      const commit = store.commit([
        { op: 'create', path, fields: {} },
        { op: 'create', path: newPath(), fields: { '': 1 } },
      ]);

      await expect(commit).rejects.toThrow(InvalidWriteError);
      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('a commit sent twice fails on its own guard and changes nothing', async () => {
      const [conversation, turn] = [newPath(), newPath()];
      const updateTime = await put(store, conversation, { lastSeq: 0 });
      const writes: Write[] = [
        { op: 'update', path: conversation, fields: { lastSeq: 1 }, guard: { updateTime } },
        { op: 'create', path: turn, fields: { producer: 'p1' } },
      ];
      await store.commit(writes);
      const before = await store.get([conversation, turn]);

      await expect(store.commit(writes)).rejects.toThrow(GuardLostError);

      expect(await store.get([conversation, turn])).toEqual(before);
    });

    test('commit refuses to name a document twice', async () => {
      const path = newPath();

      const commit = store.commit([
        { op: 'create', path, fields: { a: 1 } },
        { op: 'update', path, fields: { a: 2 }, guard: EXISTS },
      ]);

      await expect(commit).rejects.toThrow(InvalidWriteError);
      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('commit takes the values as they were when it was called', async () => {
      const path = newPath();
      const inner = { list: [1] };
      const commit = store.commit([{ op: 'create', path, fields: { inner } }]);

      inner.list.push(2);
      await commit;

      expect(await fieldsAt(store, path)).toEqual({ inner: { list: [1] } });
    });

    test('changing a read document does not change the store', async () => {
      const path = newPath();
      await put(store, path, { list: [{ a: 1 }], at: new Date(5) });
      const read = await fieldsAt(store, path);

      if (Array.isArray(read?.list)) read.list.push('more');
      if (read?.at instanceof Date) read.at.setTime(9);

      expect(await fieldsAt(store, path)).toEqual({ list: [{ a: 1 }], at: new Date(5) });
    });
  });
}
