import { z } from 'zod';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { chatNamePath, conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller, StoredDocument } from '#shared/ports/ports.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { isOwn } from '#functions/chat/conversations/own-conversation.ts';
import { idAsStored } from '#functions/chat/id-as-stored.ts';

const chatNameSchema = z.object({
  schemaVersion: z.literal(1),
  conversationId: z.string(),
  updateTime: z.date(),
});

/** `users/{uid}/chatNames/{hash}`: the conversation that a chat of an AI SDK is, where its id is no UUID. */
type ChatName = z.infer<typeof chatNameSchema>;

/** Throws ZodError for a shape that this version does not know. */
const decodeChatName = ({ fields }: StoredDocument): ChatName => chatNameSchema.parse(fields);

type Naming = Pick<ChatDependencies, 'store' | 'sha256'>;

interface NamedChat {
  caller: Caller;
  chatId: string;
}

interface Found {
  conversationId?: string;
  name?: StoredDocument;
}

const pathOf = ({ sha256 }: Naming, { caller, chatId }: NamedChat) =>
  chatNamePath(caller.uid, sha256(chatId));

/**
 * The conversation of a name. Until names were stored its id was made of uid and name, so whoever knew both could take
 * it first: such a conversation counts where it is the caller's own.
 */
async function lookUp(dependencies: Naming, chat: NamedChat): Promise<Found> {
  const { caller, chatId } = chat;
  const formerId = stableUuid(dependencies.sha256, ['ai-sdk chat', caller.uid, chatId]);
  const paths = [pathOf(dependencies, chat), conversationPath(formerId)];
  const [name, former] = await dependencies.store.get(paths);
  if (name) return { conversationId: decodeChatName(name).conversationId, name };
  return former && isOwn(decodeConversation(former).value, caller)
    ? { conversationId: formerId }
    : {};
}

/**
 * The conversation that a chat id names, for reading: itself when it is one, else one of this user. Undefined for a
 * name that the user has not used.
 */
export async function findChat(dependencies: Naming, chat: NamedChat): Promise<string | undefined> {
  return conversationIdSchema.safeParse(chat.chatId).success
    ? idAsStored(dependencies, chat.chatId, conversationPath)
    : (await lookUp(dependencies, chat)).conversationId;
}

/** Whether the next message can go there: it is the caller's, or nobody's yet. */
async function isUsable({ store }: Naming, caller: Caller, conversationId: string) {
  const [conversation] = await store.get([conversationPath(conversationId)]);
  return !conversation || isOwn(decodeConversation(conversation).value, caller);
}

/** Gives a name to a new conversation. Throws GuardLostError when another request was first. */
async function nameNew(
  dependencies: Pick<ChatDependencies, 'store' | 'sha256' | 'clock' | 'randomness'>,
  chat: NamedChat,
  name: StoredDocument | undefined,
): Promise<string> {
  const { store, clock, randomness } = dependencies;
  const conversationId = randomness.uuid();
  const fields: ChatName = { schemaVersion: 1, conversationId, updateTime: clock.now() };
  const path = pathOf(dependencies, chat);
  await store.commit([
    name
      ? { op: 'update', path, fields, guard: { updateTime: name.updateTime } }
      : { op: 'create', path, fields },
  ]);
  return conversationId;
}

/**
 * The conversation that a chat id names, for sending. A name that is new, or whose conversation was deleted, stands for
 * a new one with an id that nobody can know before. Throws GuardLostError, StoreUnavailableError.
 */
export async function openChat(dependencies: ChatDependencies, chat: NamedChat): Promise<string> {
  if (conversationIdSchema.safeParse(chat.chatId).success)
    return idAsStored(dependencies, chat.chatId, conversationPath);
  return retryWhenLost(dependencies.clock, async () => {
    const { conversationId: known, name } = await lookUp(dependencies, chat);
    if (known !== undefined && (await isUsable(dependencies, chat.caller, known))) return known;
    return nameNew(dependencies, chat, name);
  });
}
