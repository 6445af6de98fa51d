import { readPages } from '#shared/store/many-documents.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { notFoundError } from '../not-found.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import {
  decodeConversation,
  type Conversation,
  type Versioned,
  decodeAnyConversation,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import {
  compactionJobPath,
  conversationPath,
  CONVERSATIONS,
} from '#shared/conversation/documents/paths.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import { lastSegment } from '#shared/store/names.ts';

export interface OwnConversation {
  conversationId: string;
  conversation: Versioned<Conversation>;
  job: CompactionJob | undefined;
  /** Guards a change of `job`. */
  jobUpdateTime: string | undefined;
}

/** Whether `caller` may know of a conversation. */
export const isOwn = (conversation: Conversation, caller: Caller) =>
  conversation.state === 'live' && conversation.ownerUid === caller.uid;

/** A conversation, and who asks for it. */
export interface ConversationTarget {
  caller: Caller;
  conversationId: string;
}

export interface OwnTarget extends ConversationTarget {
  /** In which states it may be; default: live. */
  states?: readonly Conversation['state'][];
}

/**
 * Document and compaction job of the caller's own conversation, live unless said otherwise, in one read. Throws NOT_FOUND, with the
 * same body whether the conversation is unknown, deleted or another user's.
 */
export async function readOwnConversation(
  { store }: Pick<ChatDependencies, 'store'>,
  { caller, conversationId, states = ['live'] }: OwnTarget,
): Promise<OwnConversation> {
  const [conversationDocument, jobDocument] = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const conversation = conversationDocument && decodeConversation(conversationDocument);
  const isTheirs =
    conversation?.value.ownerUid === caller.uid && states.includes(conversation.value.state);
  if (!conversation || !isTheirs) throw notFoundError();
  return {
    conversationId,
    conversation,
    job: jobDocument && decodeJob(jobDocument).value,
    jobUpdateTime: jobDocument?.updateTime,
  };
}

/** Conversations of one read. */
const PAGE = 100;

/**
 * Every conversation of a caller in whatever state, also one whose conversation document cannot be read, in the order
 * of their ids; read page by page.
 */
export async function* ownConversations(
  { store }: Pick<ChatDependencies, 'store'>,
  caller: Caller,
): AsyncGenerator<{ conversationId: string; conversation: Versioned<Conversation> }> {
  const pages = readPages(store, {
    collection: CONVERSATIONS,
    where: [{ field: 'ownerUid', op: '==', value: caller.uid }],
    limit: PAGE,
  });
  for await (const page of pages)
    for (const document of page)
      yield {
        conversationId: lastSegment(document.path),
        conversation: decodeAnyConversation(document),
      };
}

/** What to write on a conversation document, and what to answer; without `fields` nothing is written. */
interface ConversationChange<T> {
  fields?: Extract<Write, { op: 'update' }>['fields'];
  remove?: readonly string[];
  /** Writes beside the conversation document that its guard covers. */
  writes?: readonly Write[];
  result: T;
}

/**
 * Changes a caller's own conversation document under its update time: who loses the guard reads again and decides
 * again. Throws NOT_FOUND, what `decide` throws, and GuardLostError when others won every try.
 */
export async function changeConversation<T>(
  dependencies: Pick<ChatDependencies, 'store' | 'clock'>,
  target: OwnTarget,
  decide: (own: OwnConversation) => ConversationChange<T> | Promise<ConversationChange<T>>,
): Promise<T> {
  return retryWhenLost(dependencies.clock, async () => {
    const own = await readOwnConversation(dependencies, target);
    const { fields, remove, writes = [], result } = await decide(own);
    if (!fields) return result;
    await dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(target.conversationId),
        fields,
        ...(remove && { remove }),
        guard: { updateTime: own.conversation.updateTime },
      },
      ...writes,
    ]);
    return result;
  });
}
