import { runSweep } from '#functions/worker/sweep/sweep.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { DocumentStore, Query } from '#shared/ports/ports.ts';
import type { CompactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '../compaction/conversation-builder.ts';

/**
 * So many conversations without turns, whose conversation documents are as `headOf` says. Resolves to their ids in
 * order.
 */
export async function buildMany(
  store: DocumentStore,
  count: number,
  storedConversation: (index: number) => Partial<Conversation>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    ids.push(
      (await buildConversation(store, { turns: 0, conversation: storedConversation(index) }))
        .conversationId,
    );
  return ids;
}

/** A sweep whose time is up as soon as any of its lists goes on to a second page. */
export function sweepOnePage(bench: CompactionBench) {
  const controller = new AbortController();
  const query = (asked: Query) => {
    if (asked.startAfter) controller.abort();
    return bench.store.query(asked);
  };
  return runSweep({ ...bench, store: { ...bench.store, query } }, controller.signal);
}

/** Conversation ids of the events of a kind that were published, in order. */
export const toldOf = (bench: CompactionBench, kind: 'compact' | 'erase'): string[] =>
  bench.published.flatMap(({ data }) =>
    'conversationId' in data && ('kind' in data ? data.kind : 'compact') === kind
      ? [String(data.conversationId)]
      : [],
  );
