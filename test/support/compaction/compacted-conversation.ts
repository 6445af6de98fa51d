import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { wholeOutputs } from '#shared/compaction/sent-outputs.ts';
import {
  assembleContext,
  type ContextItem,
} from '#shared/conversation/context/assemble-context.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import {
  readContextParts,
  readConversation,
} from '#shared/conversation/context/read-conversation.ts';
import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { plainSource } from '../stored-histories.ts';
import type { CompactionBench } from './compaction-dependencies.ts';
import { buildConversation, type ConversationToBuild } from './conversation-builder.ts';

export const neverAborted = () => new AbortController().signal;

/** A threshold that twenty made-up turns exceed three times. */
export const THRESHOLD_TOKENS = 1_000;

const SINCE = new Date('2026-01-02T03:04:00.000Z');

export const autoRequest = (requestId = 'request-1'): CompactionRequests => ({
  auto: { requestId, since: SINCE, trigger: 'auto' },
});

export const overflowRequest = (requestId = 'request-o'): CompactionRequests => ({
  auto: { requestId, since: SINCE, trigger: 'overflow' },
});

export const manualRequest = (requestId = 'request-m', focus?: string): CompactionRequests => ({
  manual: { requestId, since: SINCE, ...(focus !== undefined && { focus }) },
});

/** A conversation over its threshold that asks for a compaction. */
export async function buildDue(
  bench: Pick<CompactionBench, 'store'>,
  options: Partial<ConversationToBuild> = {},
): Promise<string> {
  const { conversationId } = await buildConversation(bench.store, {
    turns: 20,
    // Outputs that come within their budget alone would leave it below the threshold.
    isReported: JSON.stringify(options.turns ?? '').includes('functionResponse'),
    ...options,
    conversation: {
      settings: { thresholdTokens: THRESHOLD_TOKENS },
      compactionRequests: autoRequest(),
      ...options.conversation,
    },
  });
  return conversationId;
}

export const compactOnce = (bench: CompactionBench, conversationId: string) =>
  runCompaction(bench, { conversationId, signal: neverAborted() });

/** What is in the store now, read as every reader of the service does. */
export interface Seen {
  conversation: Conversation;
  job: CompactionJob | undefined;
  history: History | undefined;
  items: ContextItem[];
  /** What the meter says. */
  tokens: number;
  /** Everything that the model would see, as one text. */
  text: string;
}

/** Outputs as they are: none is long here. */
const plainForms = wholeOutputs({ counting: { rule: 'character-class' } });

export async function see(store: DocumentStore, conversationId: string): Promise<Seen> {
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const [job] = await store.get([compactionJobPath(conversationId)]);
  const { history, turns } = await readContextParts(plainSource(store), {
    conversationId,
    conversation: conversation.value,
  });
  const { model, pins, coveredThrough } = conversation.value;
  const items = assembleContext({ model, pins, coveredThrough, history, turns });
  return {
    conversation: conversation.value,
    job: job && decodeJob(job).value,
    history,
    items,
    tokens: contextTokens({ conversation: conversation.value, history, turns }, plainForms).tokens,
    text: JSON.stringify(items),
  };
}
