import { indexConversation } from '#functions/recall/index-conversation.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { decodeJob, RECORDS_KEPT } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { autoRequest } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { answerText, userText } from '../bench-conversation.ts';
import type { EmulatedChat } from './emulated-chat.ts';

/** So many turns are behind the last compaction when it begins. */
const UNCOVERED_TURNS = 40;
/** About so many turns of this length lie between two compactions at the default threshold. */
const TURNS_PER_COMPACTION = 100;

/** The job as so many compactions leave it: the newest records, of which the last stands for all. */
async function repeatRecords(
  { counted: { store } }: EmulatedChat,
  conversationId: string,
  compactions: number,
): Promise<void> {
  const path = compactionJobPath(conversationId);
  const [document] = await store.get([path]);
  const [record] = document ? decodeJob(document).value.records : [];
  if (document === undefined || record === undefined)
    throw new Error(`${conversationId} was not compacted`);
  const records = Array.from({ length: Math.min(RECORDS_KEPT, compactions) }, () => ({
    ...record,
  }));
  const guard = { updateTime: document.updateTime };
  await store.commit([{ op: 'update', path, fields: { records }, guard }]);
}

/**
 * Stores a conversation of user u1 with so many past turns, as they leave it: of more than 40, all but the
 * newest are folded and indexed by the real worker, and the job remembers earlier compactions. Returns its id.
 */
export async function buildLongConversation(world: EmulatedChat, turns: number): Promise<string> {
  const isFolded = turns > UNCOVERED_TURNS;
  const { conversationId } = await buildConversation(world.counted.store, {
    turns: Array.from({ length: turns }, (_, index) => ({
      user: userText(index + 1),
      answer: answerText(index + 1),
    })),
    conversation: {
      ...(isFolded && {
        coveredThrough: { seq: turns - UNCOVERED_TURNS, contentIndex: 0 },
        compactionRequests: {
          manual: { requestId: 'bench', since: autoRequest().auto?.since ?? new Date(0) },
        },
      }),
    },
  });
  if (!isFolded) return conversationId;
  const { signal } = new AbortController();
  await runCompaction(world.compaction, { conversationId, signal });
  await indexConversation(world.compaction, { conversationId, isBroken: false }, signal);
  await repeatRecords(world, conversationId, Math.ceil(turns / TURNS_PER_COMPACTION));
  return conversationId;
}
