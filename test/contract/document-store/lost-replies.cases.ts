import { describe, expect, test } from 'vitest';
import { GuardLostError, StoreUnavailableError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { fieldsAt, newPath, put } from '#test/support/stores/document-store-cases.ts';

export function describeLostReplies(store: DocumentStore): void {
  /** Applies every commit and says that it could not. */
  const withoutReplies: DocumentStore = {
    ...store,
    async commit(writes) {
      await store.commit(writes);
      throw new StoreUnavailableError({ operation: 'commit' });
    },
  };

  describe('a lost reply', () => {
    test('a commit whose reply is lost is applied, so that its writer finds its nonce', async () => {
      const path = newPath();

      await expect(put(withoutReplies, path, { producer: 'mine' })).rejects.toThrow(
        StoreUnavailableError,
      );

      expect(await fieldsAt(store, path)).toEqual({ producer: 'mine' });
    });

    test('a commit repeated after a lost reply loses its guard and counts once', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { count: 1 });
      const writes: Write[] = [
        { op: 'update', path, fields: { count: 2, by: 'mine' }, guard: { updateTime } },
      ];
      await expect(withoutReplies.commit(writes)).rejects.toThrow(StoreUnavailableError);

      await expect(store.commit(writes)).rejects.toThrow(GuardLostError);

      expect(await fieldsAt(store, path)).toEqual({ count: 2, by: 'mine' });
    });
  });
}
