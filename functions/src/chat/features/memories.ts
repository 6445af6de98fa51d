import { memoryTokens } from '#shared/conversation/context/memory-texts.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { changeNotes } from '#functions/memory/change-notes.ts';
import { notesPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  createNote,
  editNote,
  type NewNote,
  type NoteContent,
  NOTES_MAX,
  decodeNotes,
  type Note,
  type Notes,
} from '#shared/memory/note.ts';
import { selectMemory } from '#shared/memory/select-memory.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import { findById, toLowerUuid } from '#shared/lib/uuid.ts';
import { type MemoryListView, noteView } from '#shared/wire/resources/memories.ts';

/** 400: one note more than there may be. */
const memoryFull = () =>
  new AppError({
    reason: 'MEMORY_FULL',
    publicMessage: `A user may have ${NOTES_MAX} notes, and has them. Delete one that is no longer needed, or put two into one.`,
    metadata: { notesMax: String(NOTES_MAX) },
  });

/** 404: no such note. */
export const memoryNotFound = (memoryId: string) =>
  new AppError({
    reason: 'MEMORY_NOT_FOUND',
    publicMessage: 'You have no such note. Check its id in the list of memories.',
    metadata: { memoryId },
  });

/** 409: the id has a note that says something else. */
const memoryIdTaken = (memoryId: string) =>
  new AppError({
    reason: 'IDEMPOTENCY_KEY_REUSED',
    publicMessage:
      'You have another note with this `id`. Choose a new one, or change that note with PATCH.',
    metadata: { id: memoryId },
  });

/** 409: the id had a note. */
const memoryDeleted = (memoryId: string) =>
  new AppError({
    reason: 'IDEMPOTENCY_KEY_REUSED',
    publicMessage: 'The note with this `id` was deleted. Choose a new one to save it again.',
    metadata: { id: memoryId },
  });

type StoreOnly = Pick<ChatDependencies, 'store'>;

/** All that is remembered about a user, whatever prompts show of it. */
export async function readAllNotes({ store }: StoreOnly, uid: string): Promise<Notes> {
  const [document] = await store.get([notesPath(uid)]);
  return decodeNotes(document);
}

/** The caller's notes, the newest first, and what a new conversation's prompts have room for. */
export async function listMemories(
  dependencies: StoreOnly & Pick<ChatDependencies, 'config'>,
  caller: Caller,
): Promise<MemoryListView> {
  const { MEMORY_BUDGET_TOKENS: budgetTokens, appMemory } = dependencies.config;
  const { notes, revision } = await readAllNotes(dependencies, caller.uid);
  const app = appMemory?.notes() ?? [];
  const shown = selectMemory({ app, user: notes, memoryRevision: revision, budgetTokens });
  const newestFirst = notes.toSorted((one, other) => other.revision - one.revision);
  return {
    memories: newestFirst.map(noteView),
    memoriesMax: NOTES_MAX,
    tokens: memoryTokens(shown.standing),
    budgetTokens,
    leftOut: shown.overBudget.filter(({ scope }) => scope === 'user').map(({ id }) => id),
    imports: shown.imports,
  };
}

/** One note. Throws MEMORY_NOT_FOUND. */
export async function readMemory(
  dependencies: StoreOnly,
  { caller, memoryId }: { caller: Caller; memoryId: string },
): Promise<Note> {
  const { notes } = await readAllNotes(dependencies, caller.uid);
  const note = findById(notes, memoryId);
  if (!note) throw memoryNotFound(memoryId);
  return note;
}

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
