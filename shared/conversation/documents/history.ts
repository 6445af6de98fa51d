import { z } from 'zod';
import { canonicalJson } from '#shared/json-text.ts';
import type { DocumentFields, StoredDocument } from '#shared/ports/ports.ts';
import { partSchema } from './content.ts';
import { coveredThroughSchema, measuredSchema, triggerSchema } from './conversation.ts';
import { readWhole } from './read-fields.ts';
import { refuseNewer } from './schema-version.ts';
import { snapshotSchema, type Snapshot } from './snapshot.ts';
import { readSaid } from './unreadable-turn.ts';

/** A part of a kept turn that the context shows shortened; a blob that it names has the full text. */
const maskSchema = z.object({
  seq: z.number().int().positive(),
  /** 0 = the turn's user content, 1 = its first answer content, … */
  contentIndex: z.number().int().nonnegative(),
  partIndex: z.number().int().nonnegative(),
  /** Absent: one word stands for the output, and no blob is named. There may be thousands of these. */
  part: partSchema.optional(),
  /** A model condensed the output; false: it tried in vain, and need not try again. */
  condensed: z.boolean().optional(),
});
export type Mask = z.infer<typeof maskSchema>;

const historyFieldsSchema = z.object({
  schemaVersion: z.literal(1),
  generation: z.number().int().positive(),
  /** The generation whose context was folded; 0 = none. */
  parent: z.number().int().nonnegative(),
  /** `RESTORED`, `CHANGED`: an earlier one, or none, goes on (restore; edit or deletion of a turn). */
  state: z.enum(['COMPACTED', 'CONTENT_TRUNCATED', 'RESTORED', 'CHANGED']),
  /** `copy`: nothing was summarised; `fallback`: code alone did, without a model. */
  strategy: z.enum(['ledger', 'gemini-cli', 'fallback', 'copy']),
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
  /** Estimated tokens by which `masks` shorten the tail, before calibration. Absent = 0. */
  maskedTokensSaved: z.number().nonnegative().optional(),
  /** Random, drawn once: the rendered bytes stay stable and cannot be imitated. */
  boundary: z.string(),
  /** The user text that stands in for the folded turns; '' in a generation without snapshot. */
  snapshotText: z.string(),
  /** SHA-256 over the JSON of what was folded. */
  sourceHash: z.string(),
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
  masksJson: z.string(),
  reportJson: z.string(),
});

/**
 * `conversations/{c}/histories/{g}`: what stands in for the turns up to `coveredThrough`. Nothing but the
 * erasure of a turn changes it.
 */
export interface History extends z.infer<typeof historyFieldsSchema> {
  /** What `snapshotText` says, item by item with its sources; null where there is none. */
  snapshot: Snapshot | null;
  masks: Mask[];
  /** What verification found: stored as it was, served as it is. */
  report: Record<string, unknown>;
  /** What it said cannot be read and is left out. Never stored. */
  isUnreadable?: true | undefined;
}

export function encodeHistory(history: History): DocumentFields {
  const { snapshot, masks, report, isUnreadable: _, ...fields } = history;
  return {
    ...fields,
    snapshotJson: canonicalJson(snapshot),
    masksJson: JSON.stringify(masks),
    reportJson: JSON.stringify(report),
  };
}

/** What stands in a history as JSON. Made once: making a schema takes longer than reading with it. */
const storedSnapshotSchema = snapshotSchema.nullable();
const storedMasksSchema = z.array(maskSchema);
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
  sourceHash: '',
  model: '',
  promptVersion: '',
  modelCalls: 0,
  usage: { promptTokens: 0, outputTokens: 0 },
  requestedAt: new Date(0),
  createTime: new Date(0),
  durationMs: 0,
  by: '',
  snapshotJson: 'null',
  masksJson: '[]',
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
  const { snapshotJson, masksJson, reportJson, ...fields } = value;
  const text = (field: string, json: string) => ({ text: json, field });
  const said = {
    snapshotJson: readSaid(storedSnapshotSchema, text('snapshotJson', snapshotJson), null),
    masksJson: readSaid(storedMasksSchema, text('masksJson', masksJson), []),
    reportJson: readSaid(storedReportSchema, text('reportJson', reportJson), {}),
  };
  const unsaid = Object.entries(said).flatMap(([name, { problem }]) =>
    problem === undefined ? [] : [[name, problem] as const],
  );
  const { snapshotJson: snapshot, masksJson: masks, reportJson: report } = said;
  return {
    history: { ...fields, snapshot: snapshot.said, masks: masks.said, report: report.said },
    problems: new Map([...(problems ?? []), ...unsaid]),
  };
}

/** The history alone. */
export const decodeHistory = (document: StoredDocument): History =>
  readHistoryDocument(document).history;
