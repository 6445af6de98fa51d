import { notesPath } from '#shared/conversation/documents/paths.ts';
import {
  decodeNotes,
  encodeNotes,
  type AppNote,
  type Note,
  type Notes,
} from '#shared/memory/note.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';

/** What is remembered about a user. */
export async function notesOf(store: DocumentStore, uid: string): Promise<Notes> {
  const [document] = await store.get([notesPath(uid)]);
  return decodeNotes(document);
}

/** Puts notes as they are in the place of a user's; the revision rises by one. */
export async function storeNotes(
  store: DocumentStore,
  uid: string,
  notes: readonly Note[],
): Promise<void> {
  const path = notesPath(uid);
  const { revision } = await notesOf(store, uid);
  await store.commit([{ op: 'delete', path }]);
  const newest = Math.max(0, ...notes.map((note) => note.revision));
  const fields = encodeNotes({ revision: Math.max(revision + 1, newest), notes });
  await store.commit([{ op: 'create', path, fields }]);
}

/** A user's note of a revision; the text is its id unless said otherwise. */
export const noteOf = (revision: number, fields: Partial<Note> = {}): Note => ({
  id: `n${revision}`,
  text: `Note ${revision}.`,
  source: 'user',
  savedAt: new Date(Date.UTC(2026, 0, revision)),
  revision,
  ...fields,
});

export const appNoteOf = (id: string, fields: Partial<AppNote> = {}): AppNote => ({
  id,
  text: `Note ${id}.`,
  ...fields,
});
