import { z } from 'zod';
import { snapshotSections, type SnapshotProfile } from '#shared/conversation/documents/snapshot.ts';

const statuses = ['todo', 'in_progress', 'done', 'tried'] as const;

/** The number of a turn, also as models write it: `"12"`, `"[12]"`. */
const seqSchema = z.union([
  z.number().int().positive(),
  z
    .string()
    .regex(/^\s*\[?\d{1,15}\]?\s*$/u)
    .transform((text) => Number(text.replace(/\D/gu, '')))
    .pipe(z.number().int().positive()),
]);

const textSchema = z.string().refine((text) => text.trim() !== '');
const sourcesSchema = z.array(seqSchema);
/** Absent, null and blank mean the same to models. */
const optionalText = z
  .string()
  .transform((text) => (text.trim() === '' ? undefined : text))
  .optional()
  .catch(undefined);
const optionalStatus = z.enum(statuses).optional().catch(undefined);

const optionalImportance = z.number().int().min(1).max(3).optional().catch(undefined);

const addSchema = z.object({
  op: z.literal('add'),
  section: z.string(),
  text: textSchema,
  sources: sourcesSchema,
  quote: optionalText,
  status: optionalStatus,
  importance: optionalImportance,
  supersedes: optionalText,
});

const updateSchema = z.object({
  op: z.literal('update'),
  id: z.string(),
  text: textSchema,
  sources: sourcesSchema,
  quote: optionalText,
  status: optionalStatus,
  importance: optionalImportance,
  /** Ids of known items that the text takes in. */
  merges: z.array(z.string()).optional().catch(undefined),
});

const removeSchema = z.object({
  op: z.literal('remove'),
  id: z.string(),
  reason: z.string().catch(''),
  sources: sourcesSchema,
  quote: optionalText,
});

/** One change of the snapshot, as the model asks for it; what it asks is checked when it is applied. */
export const operationSchema = z.discriminatedUnion('op', [addSchema, updateSchema, removeSchema]);
export type Operation = z.infer<typeof operationSchema>;
export type AddOperation = z.infer<typeof addSchema>;
export type UpdateOperation = z.infer<typeof updateSchema>;
export type RemoveOperation = z.infer<typeof removeSchema>;

const string = { type: 'string' };
const sources = { type: 'array', items: { type: 'integer' } };
const status = { type: 'string', enum: [...statuses] };
const importance = { type: 'integer', minimum: 1, maximum: 3 };
const op = (name: Operation['op']) => ({ type: 'string', enum: [name] });
const object = (required: readonly string[], properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required,
});

/**
 * JSON Schema (`responseJsonSchema`) of the answer for conversations of `profile`. New items stand in groups by
 * section: what is written costs far more than what is read. What the fields mean the instruction alone says, which
 * goes with each request as the schema does.
 */
export function ledgerJsonSchema(profile: SnapshotProfile): Record<string, unknown> {
  const said = { text: string, sources, quote: string, status, importance };
  const item = object(['text', 'sources'], { ...said, supersedes: string });
  const variants = [
    object(['op', 'section', 'items'], {
      op: op('add'),
      section: { type: 'string', enum: [...snapshotSections[profile]] },
      items: { type: 'array', items: item },
    }),
    object(['op', 'id', 'text', 'sources'], {
      op: op('update'),
      id: string,
      ...said,
      merges: { type: 'array', items: string },
    }),
    object(['op', 'id', 'reason', 'sources'], {
      op: op('remove'),
      id: string,
      reason: string,
      sources,
      quote: string,
    }),
  ];
  return object(['scratchpad', 'operations'], {
    scratchpad: string,
    operations: { type: 'array', items: { anyOf: variants } },
  });
}
