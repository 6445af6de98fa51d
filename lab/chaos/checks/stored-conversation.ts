import { readHead, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Head } from '#shared/conversation/documents/head.ts';
import { type CompactionJob, decodeJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';

/** A conversation as its documents show it, read past every process of the run. */
export interface StoredConversation {
  conversationId: string;
  head: Head;
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
  const head = (await readHead(store, conversationId))?.value;
  if (!head) return undefined;
  const [jobDocument] = await store.get([compactionJobPath(conversationId)]);
  const turns = await readTurns(store, conversationId, countTo(head.lastSeq));
  return {
    conversationId,
    head,
    job: jobDocument && decodeJob(jobDocument).value,
    turns: turns.map(({ value }) => value),
  };
}

/** What keeps a conversation from being at rest, in words; empty when it is. */
export function unrest(storedConversation: Pick<StoredConversation, 'head' | 'job'>): string[] {
  const { auto, manual } = storedConversation.head.compactionNeeded;
  const { job } = storedConversation;
  return [
    ...(auto ? [`an automatic need waits since ${auto.since.toISOString()}`] : []),
    ...(manual ? [`a manual need waits since ${manual.since.toISOString()}`] : []),
    ...(job && job.owner !== '' ? [`a worker holds the lease, step ${job.step}`] : []),
    ...(storedConversation.head.state === 'erasing' ? ['it is being erased'] : []),
    ...(storedConversation.head.pendingErasure ? ['deleted turns are not erased yet'] : []),
    ...(storedConversation.head.open ? [`turn ${storedConversation.head.open.seq} is open`] : []),
  ];
}

/** Head and job of many conversations, for a look at whether they rest. */
export async function readUnrest(
  store: DocumentStore,
  conversationIds: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const conversationId of conversationIds) {
    const [head, [jobDocument]] = await Promise.all([
      readHead(store, conversationId),
      store.get([compactionJobPath(conversationId)]),
    ]);
    if (!head) continue;
    const job = jobDocument && decodeJob(jobDocument).value;
    const reasons = unrest({ head: head.value, job });
    if (reasons.length > 0) found.set(conversationId, reasons);
  }
  return found;
}
