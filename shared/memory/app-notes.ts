import { appNoteSchema, NOTE_MAX_CHARACTERS, NOTES_MAX, type AppNote } from './note.ts';

const isUsable = ({ id, text }: AppNote): boolean =>
  id !== '' && /\S/.test(text) && text.isWellFormed() && text.length <= NOTE_MAX_CHARACTERS;

/**
 * The notes of the document `config/memory`, which an operator writes by hand: those that can be used, at
 * most 100, and how many cannot (no id or text, a text of more than 1,000 characters, an id that came before).
 */
export function readAppNotes(fields: Readonly<Record<string, unknown>>): {
  notes: readonly AppNote[];
  unusable: number;
} {
  const given: readonly unknown[] = Array.isArray(fields['notes']) ? fields['notes'] : [];
  const notes = new Map<string, AppNote>();
  for (const each of given) {
    const { data } = appNoteSchema.safeParse(each);
    if (data && isUsable(data) && !notes.has(data.id) && notes.size < NOTES_MAX)
      notes.set(data.id, data);
  }
  return { notes: [...notes.values()], unusable: given.length - notes.size };
}
