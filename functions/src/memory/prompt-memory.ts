import { contentText, type Content } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { notesPath } from '#shared/conversation/documents/paths.ts';
import { decodeNotes, noNotes, type Notes } from '#shared/memory/note.ts';
import { selectMemory, type SelectedMemory } from '#shared/memory/select-memory.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { Config } from '../config.ts';
import { conversationPolicy } from '../config/conversation-policy.ts';

/** Where the threshold is small, notes have at most this share of it, as pins have: there must be room to compact into. */
const MEMORY_FRACTION = 1 / 8;

/** The path of a user's notes, or none where no prompt shows any: then no read is spent on them. */
export const notesPaths = (config: Pick<Config, 'MEMORY_BUDGET_TOKENS'>, uid: string): string[] =>
  config.MEMORY_BUDGET_TOKENS > 0 ? [notesPath(uid)] : [];

/** A user's notes as prompts show them. */
export async function readNotes(
  {
    store,
    config,
  }: {
    store: Pick<DocumentStore, 'get'>;
    config: Pick<Config, 'MEMORY_BUDGET_TOKENS'>;
  },
  uid: string,
): Promise<Notes> {
  const paths = notesPaths(config, uid);
  if (paths.length === 0) return noNotes;
  const [document] = await store.get(paths);
  return decodeNotes(document);
}

/** Tokens that the notes of a conversation's prompts may take in either place. */
export function memoryBudgetTokens(
  config: Parameters<typeof conversationPolicy>[0] & Pick<Config, 'MEMORY_BUDGET_TOKENS'>,
  conversation: Parameters<typeof conversationPolicy>[1],
): number {
  const { softThresholdTokens, hardThresholdTokens } = conversationPolicy(config, conversation);
  const most = Math.floor(MEMORY_FRACTION * (softThresholdTokens ?? hardThresholdTokens));
  return Math.min(config.MEMORY_BUDGET_TOKENS, most);
}

/**
 * What the prompts of a conversation say of the memory: the one function behind the call, `/context` and the
 * compactor. `memoryRevision`: of the prefix; default: the conversation document's.
 */
export const memoryForPrompt = (
  config: Parameters<typeof memoryBudgetTokens>[0] &
    Pick<Config, 'appMemory' | 'MEMORY_IMPORT_FORMAT'>,
  input: { conversation: Conversation; notes: Notes; memoryRevision?: number; message?: Content },
): SelectedMemory =>
  selectMemory({
    app: config.appMemory?.notes() ?? [],
    user: input.notes.notes,
    memoryRevision: input.memoryRevision ?? input.conversation.memoryRevision ?? 0,
    budgetTokens: memoryBudgetTokens(config, input.conversation),
    importFormat: config.MEMORY_IMPORT_FORMAT,
    message: input.message && contentText(input.message),
  });

/** A message as one call shows it: with `text` before its own parts, such as what the memory has for it. */
export const withTextBefore = (user: Content, text: string): Content =>
  text === '' ? user : { ...user, parts: [{ text }, ...user.parts] };
