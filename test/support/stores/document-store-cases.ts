import { randomUUID } from 'node:crypto';
import type { DocumentFields, DocumentStore, Query, Value, Write } from '#shared/ports/ports.ts';

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

/** Every kind of value in Firestore's order. */
export const IN_ORDER: readonly [string, Value][] = [
  ['null', null],
  ['false', false],
  ['true', true],
  ['nan', Number.NaN],
  ['minus-infinity', -Infinity],
  ['minus', -5],
  ['one', 1],
  ['one-and-half', 1.5],
  ['date-early', new Date(5)],
  ['date-late', new Date(6)],
  ['text-empty', ''],
  ['text-upper', 'B'],
  ['text-lower', 'a'],
  ['text-longer', 'aa'],
  ['text-bmp', '\uFFEE'],
  ['text-emoji', '😀'],
  ['list-empty', []],
  ['list', [1]],
  ['list-longer', [1, 0]],
  ['list-other', [2]],
  ['map-empty', {}],
  ['map', { a: 1 }],
  ['map-longer', { a: 1, b: 0 }],
  ['map-value', { a: 2 }],
  ['map-name', { b: 0 }],
];

export const byValue = { field: 'v', direction: 'asc' } as const;

/** Documents with a tie, another state and a missing field. */
export const numbered: [string, DocumentFields][] = [
  ['a', { v: 3, state: 'live' }],
  ['b', { v: 1, state: 'live' }],
  ['c', { v: 2, state: 'gone' }],
  ['d', { v: 2, state: 'live' }],
  ['e', { state: 'live' }],
];

/** `seed` creates documents in a new collection and gives its path; `ids` runs a query and gives the ids found. */
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

  async function ids(query: Omit<Query, 'limit'> & { limit?: number }): Promise<string[]> {
    const found = await store.query({ limit: 100, ...query });
    return found.map(({ path }) => path.slice(query.collection.length + 1));
  }

  return { seed, ids };
}
