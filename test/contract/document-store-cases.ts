import { randomUUID } from 'node:crypto';
import type { DocumentFields, DocumentStore, Query, Write } from '#shared/ports/ports.ts';

export const EXISTS = { exists: true } as const;

/** A path that no other test has. */
export function newPath(): string {
  return `things/${randomUUID()}`;
}

/** A collection that no other test has. */
export function newCollection(): string {
  return `${newPath()}/parts`;
}

/** Creates a document and gives its update time. */
export async function put(
  store: DocumentStore,
  path: string,
  fields: DocumentFields,
): Promise<string> {
  const [updateTime = ''] = await store.commit([{ op: 'create', path, fields }]);
  return updateTime;
}

export async function fieldsAt(
  store: DocumentStore,
  path: string,
): Promise<DocumentFields | undefined> {
  const [document] = await store.get([path]);
  return document?.fields;
}

export async function timeAt(store: DocumentStore, path: string): Promise<string | undefined> {
  const [document] = await store.get([path]);
  return document?.updateTime;
}

/** A text of this size in UTF-8. */
export function text(bytes: number): string {
  return 'x'.repeat(bytes);
}

/** `seed` creates documents in a new collection and gives its path; `find` runs a query and gives the ids found. */
export function queriesOf(store: DocumentStore) {
  async function seed(documents: readonly [string, DocumentFields][]): Promise<string> {
    const collection = newCollection();
    await store.commit(
      documents.map(([id, fields]): Write => ({
        op: 'create',
        path: `${collection}/${id}`,
        fields,
      })),
    );
    return collection;
  }

  async function find(query: Omit<Query, 'limit'> & { limit?: number }): Promise<string[]> {
    const found = await store.query({ limit: 100, ...query });
    return found.map(({ path }) => path.slice(query.collection.length + 1));
  }

  return { seed, find };
}
