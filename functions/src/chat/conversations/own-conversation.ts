import {
  decodeConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { notFoundError } from '../not-found.ts';

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

export interface OwnTarget {
  caller: Caller;
  conversationId: string;
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
  if (!conversation || !isTheirs) throw notFoundError(conversationId);
  return {
    conversationId,
    conversation,
    job: jobDocument && decodeJob(jobDocument).value,
    jobUpdateTime: jobDocument?.updateTime,
  };
}
