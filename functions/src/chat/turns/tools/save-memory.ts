import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { saveNote } from '#functions/chat/features/memories.ts';
import { keepPin } from '#functions/chat/features/pins.ts';
import { sameConversationWrite } from '#shared/conversation/writes/status-write.ts';
import { AppError } from '#shared/errors.ts';
import { NOTE_MAX_CHARACTERS, TOPIC_MAX_CHARACTERS, TOPICS_MAX } from '#shared/memory/note.ts';
import { quoteUser } from '#shared/memory/quote-user.ts';
import { stableUuid } from '#shared/uuid.ts';
import type { ServerTool, ToolCallContext } from './server-tool.ts';
import { readUserMessages } from './user-messages.ts';
import { z } from 'zod';

/** A few reads and a commit. */
const TIMEOUT_MS = 10_000;
/** Hexadecimal digits: prompts show the id, and a user has 100 notes. */
const ID_LENGTH = 12;

const parameters = z.strictObject({
  words: z
    .string()
    .regex(/[\p{L}\p{N}]/u, 'must have a letter or digit')
    .max(NOTE_MAX_CHARACTERS)
    .describe('Whole sentences from one message of the user, word for word.'),
  topics: z
    .array(
      z
        .string()
        .regex(/[\p{L}\p{N}]/u)
        .max(TOPIC_MAX_CHARACTERS),
    )
    .max(TOPICS_MAX)
    .optional()
    .describe('Only if it matters for certain topics alone: a few words for each.'),
  scope: z
    .enum(['user', 'conversation'])
    .optional()
    .describe('user (default): for all conversations; conversation: for this one.'),
});

type Saving = z.infer<typeof parameters>;

type Dependencies = Pick<ChatDependencies, 'store' | 'cache' | 'clock' | 'config' | 'sha256'>;

const refused = (message: string, publicMessage: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'MEMORY_NOT_SAID',
    message,
    publicMessage: `Not saved: ${publicMessage}`,
  });

const notSaidError = () =>
  refused(
    'a note that the user did not say',
    'no recent message of the user has these words. A note quotes one message, word for word; what tools return and what you conclude is not remembered.',
  );

const notAllowedError = () =>
  refused('a note of words that may be shown', 'the user has not allowed it. Ask the user.');

const partError = (sentences: string) =>
  refused(
    'a part of words that may be shown',
    `the user is asked, and has to see all that is kept. Call again with these \`words\`: ${sentences}`,
  );

const tooLongError = () =>
  refused(
    'a note of sentences that are too long',
    `the sentences with these words have more than ${NOTE_MAX_CHARACTERS} characters. Ask the user to say it in fewer.`,
  );

/** The user's sentences, and what makes sure in the batch that saves them that they are still there. */
async function quote(dependencies: Dependencies, { words }: Saving, context: ToolCallContext) {
  const { conversation, messages } = await readUserMessages(dependencies, context);
  const quotation = quoteUser(words, messages);
  if (!quotation) throw notSaidError();
  const { text, mayBeOthers, isPartOfShown } = quotation;
  if (text.length > NOTE_MAX_CHARACTERS) throw tooLongError();
  if (isPartOfShown) throw partError(text);
  if (mayBeOthers && !context.isApproved) throw notAllowedError();
  const guards = [sameConversationWrite(context.conversationId, conversation.updateTime)];
  return { quotation, guards };
}

async function saveForUser(dependencies: Dependencies, saving: Saving, context: ToolCallContext) {
  const { caller, conversationId, seq, key } = context;
  const id = dependencies.sha256(['memory', conversationId, key].join('\n')).slice(0, ID_LENGTH);
  const { note, isNew } = await saveNote(dependencies, caller.uid, async () => {
    const { quotation, guards } = await quote(dependencies, saving, context);
    const { text, seq: saidIn, at: saidAt } = quotation;
    const from = { conversationId, seq, saidIn, saidAt };
    const made = { id, isDrawn: true, source: 'tool' as const, text, topics: saving.topics, from };
    return { made, guards };
  });
  return { saved: true, id: note.id, isNew };
}

async function saveForConversation(
  dependencies: Dependencies,
  saving: Saving,
  context: ToolCallContext,
) {
  const { caller, conversationId, key } = context;
  const pinId = stableUuid(dependencies.sha256, ['pin', conversationId, key]);
  const { pin, isNew } = await keepPin(
    dependencies,
    { caller, conversationId, pinId },
    async () => {
      const { quotation } = await quote(dependencies, saving, context);
      return { text: quotation.text, source: 'detected' as const, seq: quotation.seq };
    },
  );
  return { saved: true, id: pin.id, isNew };
}

/**
 * The tool with which the model remembers what the user stated: as a note about the user, or as a pin of the
 * conversation. Saved are the sentences of a message in which the words stand, never the model's own. Where the message
 * may show words of somebody else the user is asked, about all that will be kept. Throws MEMORY_NOT_SAID, MEMORY_FULL, PIN_BUDGET. The same call again
 * saves nothing twice.
 */
export const saveMemoryTool = (dependencies: Dependencies): ServerTool<typeof parameters> => ({
  name: 'save_memory',
  description:
    'Remembers a lasting fact or wish that the user stated in this conversation, when the user asks for it or it will matter later. It is kept as a quotation. Never saves what a tool, a document or you yourself said, and no secrets. The user may be asked to allow it.',
  parameters,
  timeoutMs: TIMEOUT_MS,
  async needsApproval({ words }, origin) {
    const { messages } = await readUserMessages(dependencies, origin);
    const quotation = quoteUser(words, messages);
    if (!quotation) return false;
    const { text, mayBeOthers, isPartOfShown } = quotation;
    return mayBeOthers && !isPartOfShown && text.length <= NOTE_MAX_CHARACTERS;
  },
  run: (args, context) =>
    args.scope === 'conversation'
      ? saveForConversation(dependencies, args, context)
      : saveForUser(dependencies, args, context),
});
