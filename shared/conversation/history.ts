import { z } from 'zod';
import type { DocumentFields, StoredDocument } from '../ports.ts';
import { partSchema } from './content.ts';
import { coveredThroughSchema, triggerSchema } from './head.ts';

/** A part of a kept turn that the context shows shortened; the full text is in blob `blob`. */
export const maskSchema = z.object({
  seq: z.number().int().positive(),
  /** 0 = the turn's user content, 1 = its first answer content, … */
  contentIndex: z.number().int().nonnegative(),
  partIndex: z.number().int().nonnegative(),
  part: partSchema,
});
export type Mask = z.infer<typeof maskSchema>;

const historyFieldsSchema = z.object({
  schemaVersion: z.literal(1),
  generation: z.number().int().positive(),
  /** The generation whose context was folded; 0 = none. */
  parent: z.number().int().nonnegative(),
  /** `RESTORED`, `CHANGED`: an earlier one, or none, goes on (restore; edit or deletion of a turn). */
  state: z.enum(['COMPACTED', 'CONTENT_TRUNCATED', 'RESTORED', 'CHANGED']),
  /** `copy`: nothing was summarised. */
  strategy: z.enum(['rewrite', 'copy']),
  trigger: triggerSchema,
  requestId: z.string(),
  coveredThrough: coveredThroughSchema,
  /** First turn that this compaction folded (the parent covered all before). */
  from: z.number().int().nonnegative(),
  turnsFolded: z.number().int().nonnegative(),
  /** There was more to fold than the summariser could read at once: the rest follows without delay. */
  isPartial: z.boolean().optional(),
  beforeTokens: z.number().nonnegative(),
  afterTokens: z.number().nonnegative(),
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
  requestedAt: z.date(),
  createTime: z.date(),
  durationMs: z.number().nonnegative(),
  /** Nonce of the worker: finding one's own after a lost reply is success. */
  by: z.string(),
  restoredFrom: z.number().int().optional(),
  /** Of `CHANGED`: first turn that changed; earlier generations that cover it may not go on. */
  changedFromSeq: z.number().int().optional(),
  /** A turn that it covered was erased, and with it everything that was made of it. */
  erased: z.boolean().optional(),
});

const historyDocumentSchema = historyFieldsSchema.extend({
  /** JSON of the typed sections: {name: string[]}. */
  sectionsJson: z.string(),
  masksJson: z.string(),
  reportJson: z.string(),
});

/** Sections of a snapshot by name, one text an item; which names there are is the strategy's affair. */
export type StoredSections = Record<string, string[]>;

/**
 * `conversations/{c}/histories/{g}`: what stands in for the turns up to `coveredThrough`. Nothing but the
 * erasure of a turn changes it.
 */
export interface History extends z.infer<typeof historyFieldsSchema> {
  sections: StoredSections;
  masks: Mask[];
  /** What verification found: stored as it was, served as it is. */
  report: Record<string, unknown>;
}

export function encodeHistory(history: History): DocumentFields {
  const { sections, masks, report, ...fields } = history;
  return {
    ...fields,
    sectionsJson: JSON.stringify(sections),
    masksJson: JSON.stringify(masks),
    reportJson: JSON.stringify(report),
  };
}

export function decodeHistory(document: StoredDocument): History {
  const { sectionsJson, masksJson, reportJson, ...fields } = historyDocumentSchema.parse(
    document.fields,
  );
  return {
    ...fields,
    sections: z.record(z.string(), z.array(z.string())).parse(JSON.parse(sectionsJson)),
    masks: z.array(maskSchema).parse(JSON.parse(masksJson)),
    report: z.record(z.string(), z.unknown()).parse(JSON.parse(reportJson)),
  };
}
