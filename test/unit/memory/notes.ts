import type { AppNote, Note } from '#shared/memory/note.ts';

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
