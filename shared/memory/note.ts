import type { DocumentFields, StoredDocument, Value } from '#shared/ports/ports.ts';
import { comparedText } from './quote-user.ts';
import { z } from 'zod';

/** Notes of one user: all of them together stay far below what one document may hold. */
export const NOTES_MAX = 100;
/** UTF-16 units of one note: a statement, not a page. */
export const NOTE_MAX_CHARACTERS = 1_000;
/** Topics of one note. */
export const TOPICS_MAX = 10;
/** UTF-16 units of one topic: a few words. */
export const TOPIC_MAX_CHARACTERS = 60;
/** Other notes that one note brings along. */
export const IMPORTS_MAX = 10;

/** How prompts show notes with what they import: by their age, or each import below the note that brings it along. */
export const importFormats = ['flat', 'tree'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** What a prompt needs to know of a note, whoever wrote it. */
const sharedFields = {
  id: z.string(),
  text: z.string(),
  /** Where there are any, the note is shown only when a message touches one of them. */
  topics: z.array(z.string()).optional(),
  /** Ids of notes that are shown wherever this one is. */
  imports: z.array(z.string()).optional(),
};

/** A note of the app, for all of its users. */
const appNoteSchema = z.object(sharedFields);
export type AppNote = z.infer<typeof appNoteSchema>;

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

const noteSchema = z.object({
  ...sharedFields,
  source: z.enum(['user', 'tool']),
  savedAt: z.date(),
  /** Of the document, when the note was saved or last edited. */
  revision: z.number().int().positive(),
  /** Of a note that a tool saved, which quotes a message of the user. */
  from: z
    .object({
      conversationId: z.string(),
      /** The turn of the call. */
      seq: z.number().int().positive(),
      /** The turn of the message, and when it came. */
      saidIn: z.number().int().positive(),
      saidAt: z.date(),
    })
    .optional(),
});
export type Note = z.infer<typeof noteSchema>;

/** Ids of deleted notes that are kept: as many as a user may have notes. */
const DELETED_MAX = NOTES_MAX;
/** How long the id of a deleted note stays taken: longer than any client repeats a request. */
const DELETED_MS = 30 * 24 * 60 * 60_000;

const deletedNoteSchema = z.object({ id: z.string(), time: z.date() });
type DeletedNote = z.infer<typeof deletedNoteSchema>;

/** `users/{uid}/memory/notes`: all that is remembered about a user, the oldest first. */
const notesSchema = z.object({
  schemaVersion: z.literal(1),
  /** Rises by one with every change. */
  revision: z.number().int().nonnegative(),
  notes: z.array(noteSchema),
  deleted: z.array(deletedNoteSchema).optional(),
});

export interface Notes {
  revision: number;
  notes: readonly Note[];
  /** Notes that are gone, the oldest first: a late copy of the request that made one does not bring it back. */
  deleted?: readonly DeletedNote[] | undefined;
  /** What stands among them and is no note. */
  unread?: readonly Value[];
}

/** A user about whom nothing was ever remembered. */
export const noNotes: Notes = { revision: 0, notes: [] };

/** The notes one change later: what is no longer among them is deleted now. */
export function changedNotes(before: Notes, notes: readonly Note[], now: Date): Notes {
  const left = new Set(notes.map(({ id }) => id));
  const gone = before.notes.filter(({ id }) => !left.has(id)).map(({ id }) => ({ id, time: now }));
  const deleted = [...(before.deleted ?? []), ...gone].filter(
    ({ time }) => now.getTime() - time.getTime() < DELETED_MS,
  );
  const revision = before.revision + 1;
  return { ...before, revision, notes, deleted: deleted.slice(-DELETED_MAX) };
}

/** Reads a notes document, or that there is none. A note that cannot be read is set aside. */
export function decodeNotes(document: StoredDocument | undefined): Notes {
  if (document === undefined) return noNotes;
  const { fields } = document;
  const { data } = notesSchema.safeParse(fields);
  if (data) return data;
  const stored = Array.isArray(fields['notes']) ? fields['notes'] : [];
  const read = stored.map((note) => ({ note, data: noteSchema.safeParse(note).data }));
  return {
    revision: notesSchema.shape.revision.catch(0).parse(fields['revision']),
    notes: read.flatMap(({ data: note }) => note ?? []),
    deleted: notesSchema.shape.deleted.catch([]).parse(fields['deleted']),
    unread: read.flatMap(({ note, data: known }) => (known ? [] : [note])),
  };
}

/** The fields of the document one change later; what nobody could read stays in it. */
export const encodeNotes = ({
  revision,
  notes,
  deleted = [],
  unread = [],
}: Notes): DocumentFields => ({
  schemaVersion: 1,
  revision,
  deleted: deleted.map((each) => ({ ...each })),
  notes: [
    ...notes.map((note) => ({ ...note, ...(note.from && { from: { ...note.from } }) })),
    ...unread,
  ],
});

/** What a note says. */
export type NoteContent = Pick<Note, 'text' | 'topics' | 'imports'>;

export interface NewNote extends NoteContent {
  id: string;
  /** Not chosen by a caller: what says the same is the same note, and what has the id was made by the same call. */
  isDrawn?: boolean;
  source: Note['source'];
  savedAt: Date;
  from?: Note['from'];
}

type CreateDecision =
  | { kind: 'created'; notes: Note[]; note: Note }
  /** It stands already. */
  | { kind: 'unchanged'; note: Note }
  /** The id has another note. */
  | { kind: 'taken' }
  /** The note of this id is gone. */
  | { kind: 'deleted' }
  | { kind: 'full' };

const listOf = (values: readonly string[] | undefined) =>
  values === undefined || values.length === 0 ? undefined : [...new Set(values)];

const contentOf = ({ text, topics, imports }: NoteContent): NoteContent => {
  const [ownTopics, ownImports] = [listOf(topics), listOf(imports)];
  return {
    text,
    ...(ownTopics && { topics: ownTopics }),
    ...(ownImports && { imports: ownImports }),
  };
};

const isSameContent = (one: NoteContent, other: NoteContent): boolean =>
  JSON.stringify(contentOf(one)) === JSON.stringify(contentOf(other));

const compared = (content: NoteContent): NoteContent => ({
  ...content,
  text: comparedText(content.text),
});

/** Case, width, quotation marks and white space of the text make no other note. */
const saysTheSame = (one: NoteContent, other: NoteContent): boolean =>
  isSameContent(compared(one), compared(other));

/** One note more, in the next revision. One that stands already is left as it is, a deleted one stays deleted. At most 100. */
export function createNote(
  { notes, deleted = [], revision }: Notes,
  made: NewNote,
): CreateDecision {
  const known = notes.find(({ id }) => id === made.id);
  if (known) {
    const isSame = made.isDrawn === true || saysTheSame(known, made);
    return isSame ? { kind: 'unchanged', note: known } : { kind: 'taken' };
  }
  if (deleted.some(({ id }) => id === made.id)) return { kind: 'deleted' };
  const twin = made.isDrawn ? notes.find((note) => saysTheSame(note, made)) : undefined;
  if (twin) return { kind: 'unchanged', note: twin };
  if (notes.length >= NOTES_MAX) return { kind: 'full' };
  const { id, source, savedAt, from } = made;
  const note: Note = {
    id,
    ...contentOf(made),
    source,
    savedAt,
    revision: revision + 1,
    ...(from && { from }),
  };
  return { kind: 'created', notes: [...notes, note], note };
}

/**
 * The notes with those of another account behind them, the newest where there is no room for all. What stands already
 * or was deleted is left out.
 */
export function withNotesOf(own: Notes, others: readonly Note[]): Note[] {
  const added = others.flatMap((other) => {
    const decision = createNote(own, { ...other, isDrawn: true });
    return decision.kind === 'created' ? [decision.note] : [];
  });
  // Where there is no room at all, none is added.
  return [...own.notes, ...added.slice(own.notes.length - NOTES_MAX)];
}

/**
 * A note as its user edits it, in the next revision: from then on it is the user's own, wherever it came
 * from. Undefined where there is none; the same notes where nothing changes.
 */
export function editNote(
  { notes, revision }: Notes,
  edit: { id: string; change: Partial<NoteContent>; now: Date },
): { notes: readonly Note[]; note: Note; isChanged: boolean } | undefined {
  const known = notes.find(({ id }) => id === edit.id);
  if (!known) return undefined;
  const content = contentOf({ ...known, ...edit.change });
  if (isSameContent(known, content)) return { notes, note: known, isChanged: false };
  const note: Note = {
    id: known.id,
    ...content,
    source: 'user',
    savedAt: edit.now,
    revision: revision + 1,
  };
  const others = notes.filter(({ id }) => id !== note.id);
  return { notes: [...others, note], note, isChanged: true };
}

/** The notes without those that were made of what is erased: of some turns of a conversation, or of all. */
export const withoutNotesFrom = (
  notes: readonly Note[],
  erased: { conversationId: string; seqs?: readonly number[] },
): Note[] =>
  notes.filter(({ from }) => {
    if (from?.conversationId !== erased.conversationId) return true;
    return (
      erased.seqs !== undefined &&
      ![from.seq, from.saidIn].some((seq) => erased.seqs?.includes(seq))
    );
  });
