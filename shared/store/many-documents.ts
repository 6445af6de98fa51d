import type {
  DocumentFields,
  Value,
  DocumentStore,
  Query,
  StoredDocument,
  Write,
} from '../ports/ports.ts';

const isMap = (value: Value | undefined): value is DocumentFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The value at a dotted path in a document of any shape; undefined where there is none. */
export function fieldAt(fields: DocumentFields, fieldPath: string): Value | undefined {
  let value: Value | undefined = fields;
  for (const name of fieldPath.split('.')) value = isMap(value) ? value[name] : undefined;
  return value;
}

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

/** Below the store's limits of a commit: 500 writes, 3.5 MiB. */
export const BATCH_WRITES = 400;
const BATCH_BYTES = 3 * 1024 * 1024;
/** What a write takes beside its JSON, bytes; generous. */
const WRITE_BYTES = 300;

/** About what a write takes of a commit, of a creation rather too much. */
const writeBytes = (write: Write) =>
  write.op === 'create'
    ? WRITE_BYTES + Buffer.byteLength(write.path) + Buffer.byteLength(JSON.stringify(write.fields))
    : WRITE_BYTES;

/**
 * Groups of writes, in their order, as many in a batch as one commit takes; a group is never divided. A group that is
 * too large stands alone, and the store refuses it.
 */
export async function* inBatches<Group extends { writes: readonly Write[] }>(
  groups: AsyncIterable<Group>,
): AsyncGenerator<{ groups: readonly Group[]; isLast: boolean }> {
  let batch: Group[] = [];
  let writes = 0;
  let bytes = 0;
  for await (const group of groups) {
    const groupBytes = group.writes.reduce((sum, write) => sum + writeBytes(write), 0);
    writes += group.writes.length;
    bytes += groupBytes;
    if (batch.length > 0 && (writes > BATCH_WRITES || bytes > BATCH_BYTES)) {
      yield { groups: batch, isLast: false };
      batch = [];
      writes = group.writes.length;
      bytes = groupBytes;
    }
    batch.push(group);
  }
  yield { groups: batch, isLast: true };
}
