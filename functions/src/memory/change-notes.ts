import { notesPath } from '#shared/conversation/documents/paths.ts';
import {
  changedNotes,
  decodeNotes,
  encodeNotes,
  type Note,
  type Notes,
  withoutNotesFrom,
} from '#shared/memory/note.ts';
import type { Clock, DocumentStore, Write } from '#shared/ports/ports.ts';
import { retryWhenLost } from '../lib/retry.ts';

interface NotesDependencies {
  store: Pick<DocumentStore, 'get' | 'commit'>;
  clock: Pick<Clock, 'now' | 'wait'>;
}

/** What becomes of the notes; without `notes` they stay. `guards` are committed with them. */
type NotesChange<T> = { result: T; notes?: readonly Note[]; guards?: readonly Write[] };

/**
 * Changes what is remembered about a user, in one batch under the update time that was read: nothing of two
 * changes at once is lost. Throws what `decide` throws, GuardLostError after too many tries,
 * StoreUnavailableError.
 */
export async function changeNotes<T>(
  { store, clock }: NotesDependencies,
  uid: string,
  decide: (notes: Notes) => NotesChange<T> | Promise<NotesChange<T>>,
): Promise<T> {
  const path = notesPath(uid);
  return retryWhenLost(clock, async () => {
    const [document] = await store.get([path]);
    const before = decodeNotes(document);
    const { result, notes, guards = [] } = await decide(before);
    if (!notes) return result;
    const fields = encodeNotes(changedNotes(before, notes, clock.now()));
    const write: Write = document
      ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
      : { op: 'create', path, fields };
    await store.commit([write, ...guards]);
    return result;
  });
}

/**
 * Takes away the notes that a tool made of erased turns, or of a conversation that is erased whole; notes that
 * their user wrote or edited stay. May be repeated. Throws GuardLostError, StoreUnavailableError.
 */
export const eraseNotesFrom = (
  dependencies: NotesDependencies,
  erased: { uid: string; conversationId: string; seqs?: readonly number[] },
): Promise<void> =>
  changeNotes<void>(dependencies, erased.uid, ({ notes }) => {
    const left = withoutNotesFrom(notes, erased);
    return { result: undefined, ...(left.length < notes.length && { notes: left }) };
  });
