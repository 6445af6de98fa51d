import { canonicalJson } from '#shared/lib/json-text.ts';
import type {
  DocumentFields,
  StoredDocument,
  Logger,
  DocumentStore,
  Write,
} from '#shared/ports/ports.ts';
import { coveredThroughSchema, measuredSchema, triggerSchema } from './conversation.ts';
import { ratingPath, historyPath } from './paths.ts';
import { readWhole, refuseNewer, readJsonText, problemText } from './read-document.ts';
import { snapshotSchema, type Snapshot } from './snapshot.ts';
import { z } from 'zod';

/** The ways in which a model writes snapshots. */
export const summaryStrategies = ['ledger', 'gemini-cli'] as const;
export type SummaryStrategy = (typeof summaryStrategies)[number];

const historyFieldsSchema = z.object({
  schemaVersion: z.literal(1),
  generation: z.number().int().positive(),
  /** The generation whose context was folded; 0 = none. */
  parent: z.number().int().nonnegative(),
  /** `RESTORED`, `CHANGED`: an earlier one, or none, goes on (restore; edit or deletion of a turn). */
  state: z.enum(['COMPACTED', 'CONTENT_TRUNCATED', 'RESTORED', 'CHANGED']),
  /** `copy`: nothing was summarised; `fallback`: code alone did, without a model. */
  strategy: z.enum([...summaryStrategies, 'fallback', 'copy']),
  trigger: triggerSchema,
  requestId: z.string(),
  coveredThrough: coveredThroughSchema,
  /** First turn that this compaction folded (the parent covered all before). */
  from: z.number().int().nonnegative(),
  turnsFolded: z.number().int().nonnegative(),
  /** There was more to fold than the summariser could read at once: the rest follows without delay. */
  isPartial: z.boolean().optional(),
  /** Swaps in a row, up to this one, that saved next to nothing. Absent = 0. */
  unproductiveSwaps: z.number().int().nonnegative().optional(),
  /** Both of the whole prompt, system instruction and tools included, by one counter. */
  beforeTokens: z.number().nonnegative(),
  afterTokens: z.number().nonnegative(),
  /** Of a swap: what `afterTokens` is about. The meter goes on from there until a turn has been reported. */
  counted: measuredSchema.optional(),
  /** Estimated tokens of snapshot and acknowledgement, before calibration. */
  snapshotTokens: z.number().nonnegative(),
  /** Random, drawn once: the rendered bytes stay stable and cannot be imitated. */
  boundary: z.string(),
  /** The user text that stands in for the folded turns; '' in a generation without snapshot. */
  snapshotText: z.string(),
  model: z.string(),
  promptVersion: z.string(),
  modelCalls: z.number().int().nonnegative(),
  usage: z.object({ promptTokens: z.number(), outputTokens: z.number() }),
  /** Millionths of a US dollar; absent where the model's price is not known. */
  costMicros: z.number().optional(),
  /** Of a comparison that the deployment runs: which settings the conversation had. */
  variant: z.string().optional(),
  requestedAt: z.date(),
  createTime: z.date(),
  durationMs: z.number().nonnegative(),
  /** Nonce of the worker: finding one's own after a lost reply is success. */
  by: z.string(),
  restoredFrom: z.number().int().optional(),
  /** Of `CHANGED`: first turn that changed; earlier generations that cover it may not go on. */
  changedFromSeq: z.number().int().optional(),
  /** Of a `CHANGED` that a deletion made: the turns it erased, and nothing else changed. */
  erasedSeqs: z.array(z.number().int()).optional(),
  /** A turn that it covered was erased, and with it everything that was made of it. */
  erased: z.boolean().optional(),
  /** Statements that came of erased or replaced turns were taken out; the others stay. */
  mended: z.boolean().optional(),
  /** Of a mended one: the turns from here on are to be read again by the next compaction. */
  rederiveFrom: z.number().int().positive().optional(),
});

const historyDocumentSchema = historyFieldsSchema.extend({
  /** JSON of the typed snapshot; `null` in a generation without one. */
  snapshotJson: z.string(),
  reportJson: z.string(),
});

/**
 * `conversations/{c}/histories/{g}`: what stands in for the turns up to `coveredThrough`. Nothing but the
 * erasure of a turn changes it.
 */
export interface History extends z.infer<typeof historyFieldsSchema> {
  /** What `snapshotText` says, item by item with its sources; null where there is none. */
  snapshot: Snapshot | null;
  /** What verification found: stored as it was, served as it is. */
  report: Record<string, unknown>;
  /** What it said cannot be read and is left out. Never stored. */
  isUnreadable?: true | undefined;
}

export function encodeHistory(history: History): DocumentFields {
  const { snapshot, report, isUnreadable: _, ...fields } = history;
  return {
    ...fields,
    snapshotJson: canonicalJson(snapshot),
    reportJson: JSON.stringify(report),
  };
}

/** Stores the history of a generation, which nobody else can make then. */
export const historyWrite = (conversationId: string, history: History): Write => ({
  op: 'create',
  path: historyPath(conversationId, history.generation),
  fields: encodeHistory(history),
});

/** What stands in a history as JSON. Made once: making a schema takes longer than reading with it. */
const storedSnapshotSchema = snapshotSchema.nullable();
const storedReportSchema = z.record(z.string(), z.unknown());

/** What is read in the place of a history's fields that cannot be read. */
const substituteHistory = (path: string): z.infer<typeof historyDocumentSchema> => ({
  schemaVersion: 1,
  generation: Number(/\d+$/u.exec(path)?.[0] ?? 1),
  parent: 0,
  state: 'COMPACTED',
  strategy: 'copy',
  trigger: 'auto',
  requestId: '',
  coveredThrough: { seq: 0, contentIndex: 0 },
  from: 0,
  turnsFolded: 0,
  beforeTokens: 0,
  afterTokens: 0,
  snapshotTokens: 0,
  boundary: '',
  snapshotText: '',
  model: '',
  promptVersion: '',
  modelCalls: 0,
  usage: { promptTokens: 0, outputTokens: 0 },
  requestedAt: new Date(0),
  createTime: new Date(0),
  durationMs: 0,
  by: '',
  snapshotJson: 'null',
  reportJson: '{}',
});

/**
 * Reads a history, whatever it says. `problems`: fields that cannot be read, something stands in for those. Throws
 * NewerDocumentError.
 */
export function readHistoryDocument(document: StoredDocument): {
  history: History;
  problems: ReadonlyMap<string, string>;
} {
  refuseNewer(document);
  const substitute = substituteHistory(document.path);
  const { value, problems } = readWhole(historyDocumentSchema, document.fields, substitute);
  const { snapshotJson, reportJson, ...fields } = value;
  const snapshot = readJsonText(
    storedSnapshotSchema,
    { field: 'snapshotJson', text: snapshotJson },
    null,
  );
  const report = readJsonText(storedReportSchema, { field: 'reportJson', text: reportJson }, {});
  const texts = { snapshotJson: snapshot, reportJson: report };
  return {
    history: { ...fields, snapshot: snapshot.value, report: report.value },
    problems: new Map([
      ...(problems ?? []),
      ...Object.entries(texts).flatMap(([field, { problem }]) =>
        problem === undefined ? [] : [[field, problem] as const],
      ),
    ]),
  };
}

/** The history alone. */
export const decodeHistory = (document: StoredDocument): History =>
  readHistoryDocument(document).history;

/** Without one of these it is not known what a history stands in for. */
const ESSENTIAL = ['coveredThrough', 'snapshotJson'];

/** All that may be used of a history that cannot be read: that there is one. */
const unreadableHistory = (history: History): History => ({
  ...history,
  snapshot: null,
  snapshotText: '',
  snapshotTokens: 0,
  counted: undefined,
  report: {},
  isUnreadable: true,
});

/**
 * A history as it was stored. Fields that cannot be read are told in the log; where one of them is essential, the
 * history says nothing (`isUnreadable`). Throws NewerDocumentError.
 */
export function readStoredHistory(
  { logger }: { logger: Pick<Logger, 'log'> },
  conversationId: string,
  document: StoredDocument,
): History {
  const { history, problems } = readHistoryDocument(document);
  if (problems.size === 0) return history;
  const { generation } = history;
  const problem = problemText(problems);
  logger.log('ERROR', 'history_unreadable', { conversationId, generation, problem });
  return ESSENTIAL.some((field) => problems.has(field)) ? unreadableHistory(history) : history;
}

const ratingSchema = z.object({
  schemaVersion: z.literal(1),
  generation: z.number().int().positive(),
  score: z.number().int().min(1).max(5),
  comment: z.string().optional(),
  time: z.date(),
});

/**
 * `conversations/{c}/ratings/{generation}`: what the user thinks of a compaction. Apart from the history,
 * which is written once.
 */
export type Rating = z.infer<typeof ratingSchema>;

/** Reads a rating; one that cannot be read is none. */
export const decodeRating = ({ fields }: StoredDocument): Rating | undefined =>
  ratingSchema.safeParse(fields).data;

/** The ratings of generations that have one. No read when none is asked for. */
export async function readRatings(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  generations: readonly number[],
): Promise<Map<number, Rating>> {
  if (generations.length === 0) return new Map();
  const paths = generations.map((generation) => ratingPath(conversationId, generation));
  const documents = await store.get(paths);
  return new Map(
    documents.flatMap((document) => {
      const rating = document && decodeRating(document);
      return rating ? [[rating.generation, rating] as const] : [];
    }),
  );
}
