import type { DocumentStore, Query, StoredDocument } from '#shared/ports/ports.ts';
import { fieldAt } from './field-at.ts';

/**
 * All documents of a collection that a query finds, in its order, `limit` at a time; `after`: only those behind this id,
 * in the order of ids. A page goes on behind the last document of the one before, whatever became of that.
 */
export async function* readPages(
  store: Pick<DocumentStore, 'query'>,
  query: Omit<Query, 'startAfter'> & { after?: string | undefined },
): AsyncGenerator<StoredDocument[]> {
  const { after, ...asked } = query;
  let startAfter: Query['startAfter'];
  if (after !== undefined) startAfter = { path: `${query.collection}/${after}` };
  for (;;) {
    const page = await store.query({ ...asked, ...(startAfter && { startAfter }) });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < query.limit) return;
    const value = query.orderBy && fieldAt(last.fields, query.orderBy.field);
    startAfter = { path: last.path, ...(value !== undefined && { value }) };
  }
}
