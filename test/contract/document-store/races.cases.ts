import { describe, expect, test } from 'vitest';
import { GuardLostError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { EXISTS, fieldsAt, newPath, put } from '#test/support/stores/document-store-cases.ts';

export function describeRaces(store: DocumentStore): void {
  const twenty = Array.from({ length: 20 }, (_item, index) => index);

  async function winners(attempts: Promise<unknown>[]): Promise<number[]> {
    const results = await Promise.allSettled(attempts);
    const reasons = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(reasons.filter((reason) => !(reason instanceof GuardLostError))).toEqual([]);
    return twenty.filter((index) => results[index]?.status === 'fulfilled');
  }

  describe('races', () => {
    test('exactly one of 20 concurrent creates wins, and its fields are stored', async () => {
      const path = newPath();

      const won = await winners(twenty.map((by) => put(store, path, { by })));

      expect(won).toHaveLength(1);
      expect(await fieldsAt(store, path)).toEqual({ by: won[0] });
    });

    test('exactly one of 20 updates with the same update time wins', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { by: -1 });

      const won = await winners(
        twenty.map((by) =>
          store.commit([{ op: 'update', path, fields: { by }, guard: { updateTime } }]),
        ),
      );

      expect(won).toHaveLength(1);
      expect(await fieldsAt(store, path)).toEqual({ by: won[0] });
    });

    test('one of 20 commits over two documents wins both', async () => {
      const [a, b] = [newPath(), newPath()];

      const won = await winners(
        twenty.map((by) =>
          store.commit([
            { op: 'create', path: by % 2 === 0 ? a : b, fields: { by } },
            { op: 'create', path: by % 2 === 0 ? b : a, fields: { by } },
          ]),
        ),
      );

      expect(won).toHaveLength(1);
      expect([await fieldsAt(store, a), await fieldsAt(store, b)]).toEqual([
        { by: won[0] },
        { by: won[0] },
      ]);
    });

    test('20 guarded counters that re-read on conflict lose no increment', async () => {
      const path = newPath();
      await put(store, path, { count: 0 });

      await Promise.all(twenty.map(async () => increment(store, path)));

      expect(await fieldsAt(store, path)).toEqual({ count: 20 });
    });

    test('a reader never sees half of a commit', async () => {
      const [a, b] = [newPath(), newPath()];
      await store.commit([a, b].map((path): Write => ({ op: 'create', path, fields: { n: 0 } })));
      const writer = (async () => {
        for (let n = 1; n <= 20; n += 1) {
          await store.commit(
            [a, b].map((path): Write => ({ op: 'update', path, fields: { n }, guard: EXISTS })),
          );
        }
      })();

      const reads = await Promise.all(twenty.map(() => store.get([a, b])));
      await writer;

      for (const [first, second] of reads) expect(first?.fields).toEqual(second?.fields);
    });
  });
}

async function increment(store: DocumentStore, path: string): Promise<void> {
  for (;;) {
    const [document] = await store.get([path]);
    if (document === undefined) throw new Error('the counter is gone');
    const count = Number(document.fields.count) + 1;
    const guard = { updateTime: document.updateTime };
    try {
      await store.commit([{ op: 'update', path, fields: { count }, guard }]);
      return;
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
    }
  }
}
