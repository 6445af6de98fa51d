import { notesPath } from '#shared/conversation/documents/paths.ts';
import { decodeNotes, NOTES_MAX, type Note, type Notes } from '#shared/memory/note.ts';
import { memoryTokens } from '#shared/memory/render-memory.ts';
import { selectMemory } from '#shared/memory/select-memory.ts';
import { findById } from '#shared/uuid.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { type MemoryListView, noteView } from '#shared/wire/resources/memories.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { memoryNotFound } from './memory-errors.ts';

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
