import { z } from 'zod';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { chatNamePath, conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller, StoredDocument } from '#shared/ports/ports.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { isOwn } from '../conversations/own-conversation.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';

const chatNameSchema = z.object({
  schemaVersion: z.literal(1),
  conversationId: z.string(),
  updateTime: z.date(),
});

/** `users/{uid}/chatNames/{hash}`: the conversation of a chat of the AI SDK whose id is no UUID, or of a first request. */
type ChatName = z.infer<typeof chatNameSchema>;

/** Throws ZodError for a shape that this version does not know. */
const decodeChatName = ({ fields }: StoredDocument): ChatName => chatNameSchema.parse(fields);

type Naming = Pick<ChatDependencies, 'store' | 'sha256'>;

interface NamedChat {
  caller: Caller;
  chatId: string;
}

const pathOf = ({ sha256 }: Naming, { caller, chatId }: NamedChat) =>
  chatNamePath(caller.uid, sha256(chatId));

async function lookUp(
  dependencies: Naming,
  chat: NamedChat,
): Promise<{ document: StoredDocument; name: ChatName } | undefined> {
  const [document] = await dependencies.store.get([pathOf(dependencies, chat)]);
  return document && { document, name: decodeChatName(document) };
}

/**
 * The conversation that a chat id names, for reading: itself when it is one, else one of this user. Undefined for a
 * name that the user has not used.
 */
export async function findChat(dependencies: Naming, chat: NamedChat): Promise<string | undefined> {
  return conversationIdSchema.safeParse(chat.chatId).success
    ? toLowerUuid(chat.chatId)
    : (await lookUp(dependencies, chat))?.name.conversationId;
}

/** Turns of a conversation where the next message can go: it is the caller's, or nobody's yet; else undefined. */
async function countTurns({ store }: Naming, caller: Caller, conversationId: string) {
  const [document] = await store.get([conversationPath(conversationId)]);
  if (!document) return 0;
  const conversation = decodeConversation(document).value;
  return isOwn(conversation, caller) ? conversation.lastSeq : undefined;
}

/** Gives a name to a new conversation. Throws GuardLostError when another request was first. */
async function nameNew(
  dependencies: Pick<ChatDependencies, 'store' | 'sha256' | 'clock' | 'randomness'>,
  chat: NamedChat,
  document: StoredDocument | undefined,
): Promise<string> {
  const { store, clock, randomness } = dependencies;
  const conversationId = randomness.uuid();
  const fields: ChatName = { schemaVersion: 1, conversationId, updateTime: clock.now() };
  const path = pathOf(dependencies, chat);
  await store.commit([
    document
      ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
      : { op: 'create', path, fields },
  ]);
  return conversationId;
}

/**
 * The conversation that a chat id names, for sending. A name that is new, or whose conversation was deleted, stands for
 * a new one with an id that nobody can know before. Throws GuardLostError, StoreUnavailableError.
 */
export async function openChat(dependencies: ChatDependencies, chat: NamedChat): Promise<string> {
  if (conversationIdSchema.safeParse(chat.chatId).success) return toLowerUuid(chat.chatId);
  return openNamed(dependencies, chat);
}

/** The same for a name of this server's own. It holds a colon, so that no client can choose it as the id of a chat. */
export async function openNamed(dependencies: ChatDependencies, chat: NamedChat): Promise<string> {
  return retryWhenLost(dependencies.clock, async () => {
    const stored = await lookUp(dependencies, chat);
    const id = stored?.name.conversationId;
    if (id !== undefined && (await countTurns(dependencies, chat.caller, id)) !== undefined)
      return id;
    return nameNew(dependencies, chat, stored?.document);
  });
}

/**
 * The conversation that a name was given to last, where that was after `since` and nothing was said in it behind its
 * first message: who has gone on there has its answer.
 */
export async function findBegunSince(
  dependencies: Naming,
  { since, ...chat }: NamedChat & { since: Date },
): Promise<string | undefined> {
  const name = (await lookUp(dependencies, chat))?.name;
  if (!name || name.updateTime <= since) return undefined;
  const turns = await countTurns(dependencies, chat.caller, name.conversationId);
  return turns !== undefined && turns <= 1 ? name.conversationId : undefined;
}

/** A new conversation, which the name stands for from now on, unless another request takes the name at the same time. */
export async function openNew(dependencies: ChatDependencies, chat: NamedChat): Promise<string> {
  try {
    return await nameNew(dependencies, chat, (await lookUp(dependencies, chat))?.document);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
    return dependencies.randomness.uuid();
  }
}
