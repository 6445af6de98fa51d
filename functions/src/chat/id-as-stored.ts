import type { DocumentStore } from '#shared/ports/ports.ts';

/**
 * A client's id, in lower case: a UUID is the same one in capitals. It stays as it was written where a document
 * stands under that: earlier releases stored ids so. Costs a read for an id with capitals alone.
 */
export async function idAsStored(
  { store }: { store: Pick<DocumentStore, 'get'> },
  id: string,
  pathOf: (id: string) => string,
): Promise<string> {
  const lower = id.toLowerCase();
  if (lower === id) return id;
  const [document] = await store.get([pathOf(id)]);
  return document ? id : lower;
}
