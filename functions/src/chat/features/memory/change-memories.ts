import {
  createNote,
  editNote,
  type NewNote,
  type NoteContent,
} from '#shared/memory/change-notes.ts';
import type { Note } from '#shared/memory/note.ts';
import { findById, toLowerUuid } from '#shared/uuid.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import { changeNotes } from '#functions/memory/change-notes.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { memoryDeleted, memoryFull, memoryIdTaken, memoryNotFound } from './memory-errors.ts';

type MemoryDependencies = Pick<ChatDependencies, 'store' | 'clock'>;

/** A note to save; `guards` say, in the same batch, that what it was made of still stands. */
interface NoteToSave {
  made: Omit<NewNote, 'savedAt'>;
  guards?: readonly Write[];
  /** What goes with a note that is new: it is counted. */
  count?: () => Promise<readonly Write[]>;
}

/** The notes that a note stands on, named as they are stored. */
const withStoredImports = <Content extends Partial<NoteContent>>(content: Content): Content => ({
  ...content,
  ...(content.imports && { imports: content.imports.map((id) => toLowerUuid(id)) }),
});

/**
 * Saves a note about a user. The same under the same id, or the same again without an id of its own, is saved
 * once. `prepare` is asked again whenever somebody else came first. Throws MEMORY_FULL, IDEMPOTENCY_KEY_REUSED,
 * what `prepare` throws, GuardLostError, StoreUnavailableError.
 */
export const saveNote = (
  dependencies: MemoryDependencies,
  uid: string,
  prepare: () => NoteToSave | Promise<NoteToSave>,
): Promise<{ note: Note; isNew: boolean }> =>
  changeNotes<{ note: Note; isNew: boolean }>(dependencies, uid, async (notes) => {
    const { made: given, guards = [], count } = await prepare();
    const made = { ...withStoredImports(given), id: toLowerUuid(given.id) };
    const decision = createNote(notes, { ...made, savedAt: dependencies.clock.now() });
    switch (decision.kind) {
      case 'full':
        throw memoryFull();
      case 'taken':
        throw memoryIdTaken(made.id);
      case 'deleted':
        throw memoryDeleted(made.id);
      case 'unchanged':
        return { result: { note: decision.note, isNew: false } };
      case 'created':
        return {
          result: { note: decision.note, isNew: true },
          notes: decision.notes,
          guards: [...guards, ...((await count?.()) ?? [])],
        };
    }
  });

/** A note that the caller writes. Throws as `saveNote`, and USER_DAILY_CREATIONS, ANONYMOUS_LIMIT. */
export function createMemory(
  dependencies: MemoryDependencies & Pick<ChatDependencies, 'randomness' | 'quota'>,
  request: NoteContent & { caller: Caller; id?: string | undefined },
): Promise<{ note: Note; isNew: boolean }> {
  const { caller, id = dependencies.randomness.uuid(), text, topics, imports } = request;
  const isDrawn = request.id === undefined;
  const made = { id, isDrawn, source: 'user' as const, text, topics, imports };
  const count = () => dependencies.quota.create(caller, 1);
  return saveNote(dependencies, caller.uid, () => ({ made, count }));
}

/**
 * Changes a note; what is not given stays. It is the caller's own from then on, wherever it came from. Throws
 * MEMORY_NOT_FOUND, GuardLostError, StoreUnavailableError.
 */
export const editMemory = (
  dependencies: MemoryDependencies,
  request: { caller: Caller; memoryId: string; change: Partial<NoteContent> },
): Promise<Note> =>
  changeNotes<Note>(dependencies, request.caller.uid, (notes) => {
    const id = toLowerUuid(request.memoryId);
    const change = withStoredImports(request.change);
    const edited = editNote(notes, { id, change, now: dependencies.clock.now() });
    if (!edited) throw memoryNotFound(request.memoryId);
    return { result: edited.note, ...(edited.isChanged && { notes: edited.notes }) };
  });

/** Takes a note away; one that is not there is gone already. Resolves to the note, if it was there. */
export const removeNote = (
  dependencies: MemoryDependencies,
  uid: string,
  memoryId: string,
): Promise<Note | undefined> =>
  changeNotes<Note | undefined>(dependencies, uid, ({ notes }) => {
    const note = findById(notes, memoryId);
    return { result: note, ...(note && { notes: notes.filter((each) => each !== note) }) };
  });
