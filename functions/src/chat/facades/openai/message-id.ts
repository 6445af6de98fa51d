import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { decodeMessageGuard } from '#shared/conversation/documents/message-guard.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { QUEUE_MAX } from '#shared/conversation/decisions/queue-decision.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { OpenAiMessage } from '#shared/wire/facades/openai.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Names the message. */
export const KEY_HEADER = 'idempotency-key';

/** How far back a message is looked for that others were sent after: all that may wait, and the running one. */
const LOOK_BACK = QUEUE_MAX + 1;

/** The conversation document of the caller's own conversation, where there is one. */
type OwnConversation = Pick<Conversation, 'lastSeq' | 'open'> | undefined;

interface Naming {
  conversationId: string;
  /** The last one is the message. */
  messages: readonly OpenAiMessage[];
  conversation: OwnConversation;
  header: (name: string) => string | undefined;
  /** How it is to be answered: another wish is another message. */
  options: AnswerOptions | undefined;
}

/** A retry says so: every SDK of OpenAI counts them. */
const isRetry = ({ header }: Naming) => Number(header('x-stainless-retry-count') ?? 0) > 0;

const spoken = ({ role }: OpenAiMessage) => role === 'user' || role === 'assistant';

/**
 * The message's place by the server's own count, for a client that tells no history. The same text after
 * another turn is another message; but one that is answered now, or that an SDK sends again, is the one that
 * was sent before.
 */
async function idByTurns(
  { store }: Pick<ChatDependencies, 'store'>,
  naming: Naming,
  idAfter: (seq: number) => string,
): Promise<string> {
  const { conversationId, conversation } = naming;
  const lastSeq = conversation?.lastSeq ?? 0;
  const openSeq = isRetry(naming) ? 1 : conversation?.open?.seq;
  if (lastSeq === 0 || openSeq === undefined) return idAfter(lastSeq);
  const places = Array.from({ length: Math.min(lastSeq, LOOK_BACK) }, (_, i) => lastSeq - 1 - i);
  const ids = places.map(idAfter);
  const guards = await store.get(ids.map((id) => messageGuardPath(conversationId, id)));
  const known = guards.findIndex((guard) => guard && decodeMessageGuard(guard).seq >= openSeq);
  return ids[known] ?? idAfter(lastSeq);
}

/**
 * The id of a message that has none: OpenAI's protocol knows no ids, and its SDKs send a request again by
 * themselves, after 408, 409, 429, 5xx and a lost connection, without a key. So the id is made of the
 * conversation, what is said, and where: behind the history that the client tells, which a retry repeats and a
 * later message does not. `Idempotency-Key` goes before all that.
 */
export async function toMessageId(
  dependencies: Pick<ChatDependencies, 'store' | 'sha256'>,
  naming: Naming,
): Promise<string> {
  const { sha256 } = dependencies;
  const { conversationId, messages, header } = naming;
  const wish = naming.options === undefined ? [] : [JSON.stringify(naming.options)];
  const named = (...names: string[]) =>
    stableUuid(sha256, ['openai', conversationId, ...names, ...wish]);
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (key !== '')
    return messageIdSchema.safeParse(key).success
      ? key
      : stableUuid(sha256, ['openai', conversationId, 'key', key]);
  const said = messages.filter(spoken).map(({ role, content }) => [role, content ?? '']);
  const content = JSON.stringify(said);
  if (said.length > 1) return named('history', content);
  return idByTurns(dependencies, naming, (seq) => named('after', String(seq), content));
}

/** What the message's place and the model's name are read from; undefined for what is not the caller's. */
export async function readOwnConversation(
  { store }: Pick<ChatDependencies, 'store'>,
  target: { uid: string; path: string },
): Promise<Conversation | undefined> {
  const [document] = await store.get([target.path]);
  const conversation = document && decodeConversation(document).value;
  return conversation?.ownerUid === target.uid ? conversation : undefined;
}
