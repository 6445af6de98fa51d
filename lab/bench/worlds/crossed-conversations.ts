import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { autoRequest, THRESHOLD_TOKENS } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation, madeUpAnswer } from '#test/support/compaction/conversation-builder.ts';

const BUILT_AT_ONCE = 16;
/** About 250 tokens each. */
const TURNS = 6;

/** What of conversations that crossed their threshold is settled. */
export interface Settled {
  /** Compacted once, and no need waits. */
  once: number;
  /** Compacted more often. */
  twice: number;
}

async function inLanes(count: number, work: (index: number) => Promise<void>): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const lane = async () => {
    for (const index of indexes) await work(index);
  };
  await Promise.all(Array.from({ length: BUILT_AT_ONCE }, lane));
}

/** Stores so many conversations that have crossed their threshold, whose needs wait. Resolves to their ids. */
export async function buildCrossed(
  store: DocumentStore,
  count: number,
  tell: (built: number) => void,
): Promise<string[]> {
  const turns = Array.from({ length: TURNS }, (_, n) => ({ answer: madeUpAnswer(n).repeat(2) }));
  const ids: string[] = [];
  await inLanes(count, async () => {
    const { conversationId } = await buildConversation(store, {
      turns,
      conversation: {
        settings: { thresholdTokens: THRESHOLD_TOKENS },
        compactionRequests: autoRequest(),
      },
    });
    if (ids.push(conversationId) % 250 === 0) tell(ids.length);
  });
  return ids;
}

/** How many of the conversations are settled. */
export async function settledOf(store: DocumentStore, ids: readonly string[]): Promise<Settled> {
  const settled = { once: 0, twice: 0 };
  await inLanes(ids.length, async (index) => {
    const conversation = await readConversation(store, ids[index] ?? '');
    const { generation = 0, compactionRequests } = conversation?.value ?? {};
    if (generation > 1) settled.twice += 1;
    else if (generation === 1 && !compactionRequests?.auto) settled.once += 1;
  });
  return settled;
}
