import { describe } from 'vitest';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { describeCommits } from './document-store/commits.cases.ts';
import { describeDeletions } from './document-store/deletions.cases.ts';
import { describeGuards } from './document-store/guards.cases.ts';
import { describeLimits } from './document-store/limits.cases.ts';
import { describeLostReplies } from './document-store/lost-replies.cases.ts';
import { describeQueries } from './document-store/queries.cases.ts';
import { describeQueryFilters } from './document-store/query-filters.cases.ts';
import { describeQueryNested } from './document-store/query-nested.cases.ts';
import { describeQueryOrder } from './document-store/query-order.cases.ts';
import { describeQueryPages } from './document-store/query-pages.cases.ts';
import { describeRaces } from './document-store/races.cases.ts';
import { describeReads } from './document-store/reads.cases.ts';
import { describeUpdates } from './document-store/updates.cases.ts';
import { describeValues } from './document-store/values.cases.ts';
import { describeWatch } from './document-store/watch.cases.ts';

/**
 * What every DocumentStore does, run on each implementation. `create` is called once: the tests share the
 * store and keep apart by their own collections.
 */
export function describeDocumentStore(name: string, create: () => DocumentStore): void {
  describe(`document store: ${name}`, () => {
    const store = create();
    describeReads(store);
    describeGuards(store);
    describeCommits(store);
    describeUpdates(store);
    describeValues(store);
    describeLimits(store);
    describeQueries(store);
    describeQueryOrder(store);
    describeQueryFilters(store);
    describeQueryPages(store);
    describeQueryNested(store);
    describeWatch(store);
    describeDeletions(store);
    describeRaces(store);
    describeLostReplies(store);
  });
}
