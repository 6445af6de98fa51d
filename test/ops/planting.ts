import type { InvariantName } from '#infra/ops/verify/invariants.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';

/** What was wrong with a database that somebody wrote into, or that lost a document. */
export interface Planted {
  /** What verification calls it. */
  name: InvariantName;
  /** Which kind of it, where there are several. */
  kind?: string;
  /** Of the document that the finding is to name, below the conversation; '' is the conversation document. */
  at: string;
  /** Findings that follow from it. */
  besides?: readonly InvariantName[];
  writes: (plantedInto: PlantedInto) => Write[];
}

/** The conversation that is spoiled: twenty and more turns, compacted three times. */
export interface PlantedInto {
  conversationId: string;
  /** All documents of it, by path. */
  documents: ReadonlyMap<string, StoredDocument>;
}

export const anything = { exists: true } as const;
export const update = (path: string, fields: DocumentFields, remove: string[] = []): Write => ({
  op: 'update',
  path,
  fields,
  remove,
  guard: anything,
});
export const create = (path: string, fields: DocumentFields): Write => ({
  op: 'create',
  path,
  fields,
});
export const remove = (path: string): Write => ({ op: 'delete', path });

export const fieldsAt = ({ documents }: PlantedInto, path: string): DocumentFields => {
  const document = documents.get(path);
  if (!document) throw new Error(`there is no ${path} to spoil`);
  return document.fields;
};

export const turn = (seq: number) => `turns/${String(seq).padStart(10, '0')}`;
export const history = (generation: number) => `histories/${String(generation).padStart(8, '0')}`;

export const PAST = new Date('2026-01-01T00:00:00.000Z');
export const FAR = new Date('2027-01-01T00:00:00.000Z');

/** Puts documents back as they were before `writes`. */
async function undo(
  store: DocumentStore,
  writes: readonly Write[],
  before: PlantedInto['documents'],
): Promise<void> {
  const paths = [...new Set(writes.map(({ path }) => path))];
  await store.commit(paths.map((path) => remove(path)));
  const kept = paths.flatMap((path) => before.get(path) ?? []);
  if (kept.length > 0) await store.commit(kept.map(({ path, fields }) => create(path, fields)));
}

/** Spoils a conversation, has it looked at, and puts it back. */
export async function whilePlanted<T>(
  store: DocumentStore,
  input: { into: PlantedInto; corruption: Planted },
  look: () => Promise<T>,
): Promise<T> {
  const writes = input.corruption.writes(input.into);
  // A document may stand in one commit once.
  for (const write of writes) await store.commit([write]);
  try {
    return await look();
  } finally {
    await undo(store, writes, input.into.documents);
  }
}

/** Everything of a conversation whose turns have no pieces, by path. */
export async function documentsOf(
  store: DocumentStore,
  conversationId: string,
): Promise<ReadonlyMap<string, StoredDocument>> {
  const root = conversationPath(conversationId);
  const names = ['turns', 'messages', 'histories', 'jobs', 'blobs', 'public', 'recall'];
  const below = await Promise.all(
    names.map((name) => store.query({ collection: `${root}/${name}`, limit: 300 })),
  );
  const conversation = (await store.get([root])).flatMap((document) => document ?? []);
  return new Map([...conversation, ...below.flat()].map((document) => [document.path, document]));
}
