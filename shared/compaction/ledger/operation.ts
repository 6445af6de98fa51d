import { z } from 'zod';
import { snapshotSections, type SnapshotProfile } from '../../conversation/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';

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

const addSchema = z.object({
  op: z.literal('add'),
  section: z.string(),
  text: textSchema,
  sources: sourcesSchema,
  quote: optionalText,
  status: optionalStatus,
  importance: z.number().int().min(1).max(3).optional().catch(undefined),
  supersedes: optionalText,
});

const updateSchema = z.object({
  op: z.literal('update'),
  id: z.string(),
  text: textSchema,
  sources: sourcesSchema,
  quote: optionalText,
  status: optionalStatus,
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

/** A whole answer; its operations are read one by one (`readLedgerAnswer`). */
export const ledgerAnswerSchema = z.object({
  scratchpad: z.string().optional().catch(undefined),
  operations: z.array(z.unknown()),
});

const described = (description: string) => ({ type: 'string', description });
const sources = { type: 'array', items: { type: 'integer' }, description: 'turn numbers' };
const quote = described('exact words of a cited turn');
const status = { type: 'string', enum: [...statuses] };
const id = described('id of a known item');
const op = (name: Operation['op']) => ({ type: 'string', enum: [name] });

/** JSON Schema (`responseJsonSchema`) of the answer for conversations of `profile`. */
export function ledgerJsonSchema(profile: SnapshotProfile): Record<string, unknown> {
  const variants = [
    {
      type: 'object',
      properties: {
        op: op('add'),
        section: { type: 'string', enum: [...snapshotSections[profile]] },
        text: described('one statement'),
        sources,
        quote,
        status,
        importance: { type: 'integer', minimum: 1, maximum: 3 },
        supersedes: described('id of the known item that this one replaces'),
      },
      required: ['op', 'section', 'text', 'sources'],
    },
    {
      type: 'object',
      properties: {
        op: op('update'),
        id,
        text: described('the whole new statement'),
        sources,
        quote,
        status,
      },
      required: ['op', 'id', 'text', 'sources'],
    },
    {
      type: 'object',
      properties: {
        op: op('remove'),
        id,
        reason: described('why it no longer holds'),
        sources,
        quote,
      },
      required: ['op', 'id', 'reason', 'sources'],
    },
  ];
  return {
    type: 'object',
    properties: {
      scratchpad: described('notes on the history; not kept'),
      operations: { type: 'array', items: { anyOf: variants } },
    },
    required: ['scratchpad', 'operations'],
  };
}

export type LedgerAnswerProblem = 'TOO_LONG' | 'NOT_JSON' | 'NO_OPERATIONS' | 'MOSTLY_INVALID';

export type LedgerAnswer =
  | { ok: true; operations: Operation[]; /** Operations that could not be read. */ skipped: number }
  | { ok: false; problem: LedgerAnswerProblem };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const between = (text: string, open: string, close: string): unknown =>
  parsed(text.slice(text.indexOf(open), text.lastIndexOf(close) + 1));

/** The JSON of an answer, also inside a code fence or between sentences. */
function jsonIn(text: string): unknown {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const inBraces = between(text, '{', '}');
  const inBrackets = between(text, '[', ']');
  // A list of one operation holds an object as well: the outer one counts.
  return text.indexOf('[') < text.indexOf('{')
    ? (inBrackets ?? inBraces)
    : (inBraces ?? inBrackets);
}

/**
 * The operations of a model's answer. A single one that cannot be read is skipped and counted; when more
 * than half of them cannot, the answer is refused. An empty list is an answer: nothing changed.
 */
export function readLedgerAnswer(text: string): LedgerAnswer {
  if (text.length > ledgerConstants.ledgerAnswerCharacters.value)
    return { ok: false, problem: 'TOO_LONG' };
  const json = jsonIn(text);
  if (json === undefined) return { ok: false, problem: 'NOT_JSON' };
  const answer = ledgerAnswerSchema.safeParse(Array.isArray(json) ? { operations: json } : json);
  if (!answer.success) return { ok: false, problem: 'NO_OPERATIONS' };
  const stated = answer.data.operations;
  const read = stated
    .slice(0, ledgerConstants.ledgerOperationLimit.value)
    .map((value) => operationSchema.safeParse(value));
  const operations = read.flatMap((result) => (result.success ? [result.data] : []));
  const invalid = read.length - operations.length;
  if (invalid > ledgerConstants.invalidOperationFraction.value * read.length)
    return { ok: false, problem: 'MOSTLY_INVALID' };
  return { ok: true, operations, skipped: stated.length - operations.length };
}
