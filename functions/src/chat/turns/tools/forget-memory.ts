import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { removeNote, readAllNotes, memoryNotFound } from '#functions/chat/features/memories.ts';
import { AppError } from '#shared/errors.ts';
import { NOTE_MAX_CHARACTERS } from '#shared/memory/note.ts';
import { quoteUser } from '#shared/memory/quote-user.ts';
import { findById } from '#shared/uuid.ts';
import type { ServerTool, ToolCallOrigin } from './server-tool.ts';
import { readUserMessages } from './user-messages.ts';
import { z } from 'zod';

/** A few reads and a commit. */
const TIMEOUT_MS = 10_000;

const parameters = z.strictObject({
  id: z.string().max(64).describe('The `id` of the note.'),
  words: z
    .string()
    .max(NOTE_MAX_CHARACTERS)
    .optional()
    .describe('The words of the user’s newest message that ask for it, word for word.'),
});

type Forgetting = z.infer<typeof parameters>;

type Dependencies = Pick<ChatDependencies, 'store' | 'cache' | 'clock'>;

/** 400: a tool or a document may want a note gone, not the user. */
const notAskedError = () =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'MEMORY_NOT_SAID',
    message: 'the user did not ask to forget the note, and was not asked',
    publicMessage: 'Not forgotten: the user has not allowed it. Ask the user.',
  });

/** Whether the message of this turn has the words, and nobody else can have given the model the idea. */
async function isAskedByUser(
  dependencies: Dependencies,
  { words }: Forgetting,
  origin: ToolCallOrigin,
): Promise<boolean> {
  if (words === undefined) return false;
  const { messages, showsOthers } = await readUserMessages(dependencies, origin);
  const newest = messages.filter(({ seq }) => seq === origin.seq);
  const quotation = quoteUser(words, newest);
  return !showsOthers && quotation?.mayBeOthers === false;
}

/**
 * The tool with which the model forgets a note about the user, by its id in the prompt. It runs at once where the newest
 * message has the words that ask for it and no turn shows a tool's output, a file, a pasted text or one of the app; else the user is
 * asked. Throws MEMORY_NOT_FOUND, MEMORY_NOT_SAID.
 */
export const forgetMemoryTool = (dependencies: Dependencies): ServerTool<typeof parameters> => ({
  name: 'forget_memory',
  description:
    'Forgets one note about the user, when the user asks for it. The user may be asked to allow it.',
  parameters,
  timeoutMs: TIMEOUT_MS,
  async needsApproval(args, origin) {
    const { notes } = await readAllNotes(dependencies, origin.caller.uid);
    if (!findById(notes, args.id)) return false;
    return !(await isAskedByUser(dependencies, args, origin));
  },
  async run(args, context) {
    if (!context.isApproved && !(await isAskedByUser(dependencies, args, context)))
      throw notAskedError();
    const note = await removeNote(dependencies, context.caller.uid, args.id);
    if (!note) throw memoryNotFound(args.id);
    return { forgotten: true, id: note.id, text: note.text };
  },
});
