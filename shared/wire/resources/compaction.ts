import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import {
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { citationsFor } from '#shared/compaction/cite-statements.ts';
import type { Citation } from '#shared/models/grounding.ts';
import { requestIdSchema, time, tokens, wellFormedText, wholePromptTokens } from '../fields.ts';
import { citationResponse, citationView } from '../sources.ts';
import { FOCUS_MAX_CHARACTERS } from '#shared/lib/limits.ts';
import { ratingResponse } from './ratings.ts';
import { z } from 'zod';

export const restoreBody = z.strictObject({
  generation: z.number().int().min(0).max(99_999_999).describe('0: none, nothing stays folded.'),
  requestId: requestIdSchema.optional().describe('The same id again is the same restore.'),
});

export const compactBody = z.strictObject({
  focus: wellFormedText
    .min(1)
    .max(FOCUS_MAX_CHARACTERS)
    .optional()
    .describe('What the summary shall pay attention to.'),
  requestId: requestIdSchema.optional().describe('The same id again is the same request.'),
  dryRun: z
    .boolean()
    .optional()
    .describe('true: only tells what would be folded; nothing is asked for.'),
});

/**
 * What a compaction would fold now: `WOULD_COMPACT` with the range, or, each with its reason, `NOOP` and
 * `FAILED_ERROR` for what no run can fold.
 */
export const compactionPreviewResponse = z.object({
  dryRun: z.literal(true),
  state: z.enum(['WOULD_COMPACT', 'NOOP', 'FAILED_ERROR']),
  reason: z.string().optional(),
  beforeTokens: tokens,
  turnsFolded: z.number().int(),
  /** First and last turn of the range; only with WOULD_COMPACT. */
  from: z.number().int().optional(),
  upTo: z.number().int().optional(),
});
export type CompactionPreview = z.infer<typeof compactionPreviewResponse>;

export const compactionJobResponse = z.object({ jobId: z.string(), state: z.string() });

export const cancelledCompactionResponse = compactionJobResponse.extend({
  cancelRequested: z
    .literal(true)
    .optional()
    .describe('A worker is at it and stops within about two seconds.'),
});

export const compactResponse = z.union([compactionJobResponse, compactionPreviewResponse]);

export const compactionRecordResponse = z.object({
  jobId: z.string(),
  kind: z
    .enum(['compaction', 'change', 'restore'])
    .describe(
      'Only `compaction` is one: an edit, a regeneration or a deletion (`change`), and a restore or fork (`restore`), take a generation too and stand in the same list.',
    ),
  generation: z.number().int().optional(),
  state: z.string(),
  trigger: z.string(),
  requestedAt: time,
  finishedAt: time,
  from: z.number().int().optional(),
  upTo: z.number().int().optional(),
  turnsFolded: z.number().int(),
  beforeTokens: wholePromptTokens,
  afterTokens: wholePromptTokens,
  model: z.string().optional(),
  calls: z.number().int(),
  tokens: z.object({ promptTokens: tokens, outputTokens: tokens }).optional(),
  costMicros: z
    .number()
    .optional()
    .describe('Millionths of a US dollar; absent where no model reported what it took.'),
  durationMs: z.number(),
  report: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'What the check of the snapshot found; of a ledger: the guide on operating compaction names its fields.',
    ),
  reason: z.string().optional(),
  message: z.string(),
  restoredFrom: z.number().int().optional(),
  strategy: z
    .string()
    .optional()
    .describe(
      'Who wrote the snapshot: ledger, gemini-cli, fallback (code alone) or copy (nobody).',
    ),
  variant: z
    .string()
    .optional()
    .describe('Of a comparison that the deployment runs: which settings the conversation had.'),
  rating: ratingResponse.optional().describe('What the user thinks of it.'),
});
export type CompactionRecordView = z.infer<typeof compactionRecordResponse>;

const snapshotItem = z.object({
  id: z.string().describe('The same as long as the statement is kept: `i17`.'),
  section: z
    .string()
    .describe('`timeline`: what was talked about, a line for each topic, in order.'),
  layer: z
    .enum(['working', 'archive'])
    .describe('working: in every context; archive: where there is room, and found by search.'),
  text: z
    .string()
    .describe('The sign `⁇` stands behind a value that nobody was found to have said.'),
  sources: z
    .array(z.number().int())
    .describe(
      'The turns that say so, ascending; empty where nobody knows them. Of a topic: its first turn.',
    ),
  through: z.number().int().optional().describe('Of a topic: its last turn.'),
  quote: z.string().optional().describe('Words of one of those turns, exactly.'),
  at: z.string().optional().describe('The day it is about or was said, `2026-11-21`.'),
  status: z.enum(['todo', 'in_progress', 'done', 'tried']).optional(),
  importance: z.number().int().describe('1 low, 2 normal, 3 high.'),
  supersedes: z.string().optional().describe('The statement that this one took the place of.'),
  by: z
    .enum(['model', 'code'])
    .describe('code: words of a turn that code put in where no model could be asked.'),
  citations: z
    .array(citationResponse)
    .optional()
    .describe('Sources of the answers in these turns that bear the statement out.'),
});
export type SnapshotItemView = z.infer<typeof snapshotItem>;

export const compactionDetailResponse = compactionRecordResponse.extend({
  snapshot: z
    .array(snapshotItem)
    .optional()
    .describe(
      'What the snapshot says, statement by statement; absent where there is none any more.',
    ),
});
export type CompactionDetailView = z.infer<typeof compactionDetailResponse>;

export const compactionListResponse = z.object({
  compactions: z.array(compactionRecordResponse),
  nextPageToken: z.string().optional(),
});

type RecordMessage = (
  record: Pick<CompactionRecord, 'state' | 'beforeTokens' | 'afterTokens' | 'reason'>,
) => string;

/** What made a generation, or tried to. */
function kindOf(state: string): CompactionRecordView['kind'] {
  if (state === 'CHANGED') return 'change';
  return state === 'RESTORED' ? 'restore' : 'compaction';
}

/** An attempt that changed nothing, from the job's records. */
export const attemptView = (
  record: CompactionRecord,
  message: RecordMessage,
): CompactionRecordView => ({
  jobId: record.requestId,
  kind: kindOf(record.state),
  generation: record.generation,
  state: record.state,
  trigger: record.trigger,
  requestedAt: record.requestedAt.toISOString(),
  finishedAt: record.finishedAt.toISOString(),
  turnsFolded: record.turnsFolded,
  beforeTokens: record.beforeTokens,
  afterTokens: record.afterTokens,
  model: record.model,
  calls: record.modelCalls,
  tokens: record.tokens,
  costMicros: record.costMicros,
  variant: record.variant,
  durationMs: record.durationMs,
  reason: record.reason,
  message: message(record),
});

/** A compaction that made a generation, from its history document. */
export const historyView = (history: History, message: RecordMessage): CompactionRecordView => ({
  ...attemptView({ ...history, finishedAt: history.createTime, tokens: history.usage }, message),
  from: history.from,
  upTo: history.coveredThrough.seq,
  report: history.report,
  restoredFrom: history.restoredFrom,
  strategy: history.strategy,
  // What it says is in no context.
  ...(history.isUnreadable && { reason: 'SNAPSHOT_UNREADABLE' }),
});

const itemView = (
  item: ArchivedItem,
  layer: SnapshotItemView['layer'],
  known: readonly Citation[] = [],
): SnapshotItemView => {
  const citations = citationsFor(item, known).map(citationView);
  return { ...item, layer, ...(citations.length > 0 && { citations }) };
};

/** The statements of a snapshot with their sources: the working layer in the order in which it is written, then the archive. */
export const snapshotView = (snapshot: Snapshot): SnapshotItemView[] => [
  ...workingItems(snapshot).map((item) => itemView(item, 'working', snapshot.citations)),
  ...snapshot.archive.map((item) => itemView(item, 'archive', snapshot.citations)),
];
