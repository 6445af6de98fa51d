import { describe, expect, test } from 'vitest';
import type { DocumentFields, DocumentStore, Query } from '#shared/ports/ports.ts';
import { queriesOf } from '#test/support/stores/document-store-cases.ts';

/** Conversations as sweeps look for them: with leases, needs and states, most with none. */
const conversations: [string, DocumentFields][] = [
  ['a', { state: 'live', open: { leaseUntil: new Date(3_000) } }],
  ['b', { state: 'erasing', open: { leaseUntil: new Date(1_000) } }],
  ['c', { state: 'live', compactionRequests: { auto: { since: new Date(2_000) } } }],
  ['d', { state: 'erasing', compactionRequests: { auto: { since: new Date(1_000) } } }],
  ['e', { state: 'live', compactionRequests: { auto: { since: new Date(1_000) } }, open: {} }],
  ['f', { state: 'live', compactionRequests: { manual: { since: new Date(1) } }, open: null }],
  ['g', { compactionRequests: { auto: { since: new Date(9_000) } } }],
];

export function describeQueryNested(store: DocumentStore): void {
  const { seed, ids } = queriesOf(store);

  describe('query', () => {
    test('a query finds dates in a map before a time and skips documents without one', async () => {
      const collection = await seed(conversations);
      const where: Query['where'] = [{ field: 'open.leaseUntil', op: '<', value: new Date(3_000) }];

      expect(await ids({ collection, where })).toEqual(['b']);
    });

    test('a query pages through dates two maps deep, oldest first', async () => {
      const collection = await seed(conversations);
      const field = 'compactionRequests.auto.since';
      const asked = {
        collection,
        where: [{ field, op: '<', value: new Date(5_000) }],
        orderBy: { field, direction: 'asc' },
        limit: 2,
      } as const;

      expect(await ids(asked)).toEqual(['d', 'e']);
      const startAfter = { path: `${collection}/e`, value: new Date(1_000) };
      expect(await ids({ ...asked, startAfter })).toEqual(['c']);
    });

    test('a query finds documents in one state by id, page by page', async () => {
      const collection = await seed(conversations);
      const where: Query['where'] = [{ field: 'state', op: '==', value: 'erasing' }];

      expect(await ids({ collection, where, limit: 1 })).toEqual(['b']);
      const startAfter = { path: `${collection}/b` };
      expect(await ids({ collection, where, limit: 1, startAfter })).toEqual(['d']);
    });
  });
}
