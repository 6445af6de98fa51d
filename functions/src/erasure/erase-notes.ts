import { withoutNotesFrom } from '#shared/memory/change-notes.ts';
import { changeNotes, type NotesDependencies } from '../memory/change-notes.ts';

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
