import type { DocumentStore, Query, StoredDocument } from '#shared/ports/ports.ts';

/** All documents of a collection that a query finds, in the order of their ids, `limit` at a time. */
export async function* readPages(
  store: Pick<DocumentStore, 'query'>,
  query: Pick<Query, 'collection' | 'where' | 'limit'> & { after?: string | undefined },
): AsyncGenerator<StoredDocument[]> {
  const { after, ...asked } = query;
  let startAfter = after === undefined ? undefined : { path: `${query.collection}/${after}` };
  for (;;) {
    const page = await store.query({ ...asked, ...(startAfter && { startAfter }) });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < query.limit) return;
    startAfter = { path: last.path };
  }
}
