import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { type CompactionJob, decodeJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';

/** A conversation as its documents show it, read past every process of the run. */
export interface StoredConversation {
  conversationId: string;
  conversation: Conversation;
  job: CompactionJob | undefined;
  /** All of them, by seq; a missing one is left out. */
  turns: Turn[];
}

const countTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** `undefined` when nobody managed to create it. */
export async function readStoredConversation(
  store: DocumentStore,
  conversationId: string,
): Promise<StoredConversation | undefined> {
  const conversation = (await readConversation(store, conversationId))?.value;
  if (!conversation) return undefined;
  const [jobDocument] = await store.get([compactionJobPath(conversationId)]);
  const turns = await readTurns(store, conversationId, countTo(conversation.lastSeq));
  return {
    conversationId,
    conversation,
    job: jobDocument && decodeJob(jobDocument).value,
    turns: turns.map(({ value }) => value),
  };
}

/** What keeps a conversation from being at rest, in words; empty when it is. */
export function unrest(
  storedConversation: Pick<StoredConversation, 'conversation' | 'job'>,
): string[] {
  const { auto, manual } = storedConversation.conversation.compactionRequests;
  const { job } = storedConversation;
  return [
    ...(auto ? [`an automatic need waits since ${auto.since.toISOString()}`] : []),
    ...(manual ? [`a manual need waits since ${manual.since.toISOString()}`] : []),
    ...(job && job.owner !== '' ? [`a worker holds the lease, step ${job.step}`] : []),
    ...(storedConversation.conversation.state === 'erasing' ? ['it is being erased'] : []),
    ...(storedConversation.conversation.pendingErasure ? ['deleted turns are not erased yet'] : []),
    ...(storedConversation.conversation.open
      ? [`turn ${storedConversation.conversation.open.seq} is open`]
      : []),
  ];
}

/** Document and job of many conversations, for a look at whether they rest. */
export async function readUnrest(
  store: DocumentStore,
  conversationIds: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const conversationId of conversationIds) {
    const [conversation, [jobDocument]] = await Promise.all([
      readConversation(store, conversationId),
      store.get([compactionJobPath(conversationId)]),
    ]);
    if (!conversation) continue;
    const job = jobDocument && decodeJob(jobDocument).value;
    const reasons = unrest({ conversation: conversation.value, job });
    if (reasons.length > 0) found.set(conversationId, reasons);
  }
  return found;
}
