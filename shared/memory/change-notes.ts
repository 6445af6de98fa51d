import { comparedText } from './compared-text.ts';
import { NOTES_MAX, type Note, type Notes } from './note.ts';

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
