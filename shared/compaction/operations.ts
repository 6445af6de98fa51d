import {
  modelSections,
  statuses,
  type SnapshotProfile,
} from '#shared/conversation/documents/snapshot.ts';
import { engineConstants } from './constants.ts';
import { z } from 'zod';

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
/** What is no number of a turn is left out: the statement stands all the same. */
const sourcesSchema = z
  .array(z.unknown())
  .catch([])
  .transform((values) =>
    values.flatMap((value) => {
      const seq = seqSchema.safeParse(value);
      return seq.success ? [seq.data] : [];
    }),
  );
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
  /** Id of the known item that it takes the place of. */
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

const operationSchema = z.discriminatedUnion('op', [addSchema, updateSchema, removeSchema]);
export type AddOperation = z.infer<typeof addSchema>;
export type UpdateOperation = z.infer<typeof updateSchema> & {
  /** Another chunk gives the item its words: these stand beside it. No model says so. */
  isBeside?: true;
};
export type RemoveOperation = z.infer<typeof removeSchema>;
/** One change of the snapshot, as the model asks for it; what it asks is checked when it is applied. */
export type Operation = AddOperation | UpdateOperation | RemoveOperation;

/** A stretch of the folded turns, as the model names it. */
const topicSchema = z.object({ title: textSchema, from: seqSchema, through: seqSchema });
export type Topic = z.infer<typeof topicSchema>;

const string = { type: 'string' };
const integer = { type: 'integer' };
const sources = { type: 'array', items: integer };
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
export function answerJsonSchema(profile: SnapshotProfile): Record<string, unknown> {
  const statement = { text: string, sources, quote: string, status, importance };
  const item = object(['text', 'sources'], { ...statement, supersedes: string });
  const variants = [
    object(['op', 'section', 'items'], {
      op: op('add'),
      section: { type: 'string', enum: [...modelSections(profile)] },
      items: { type: 'array', items: item },
    }),
    object(['op', 'id', 'text', 'sources'], {
      op: op('update'),
      id: string,
      ...statement,
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
  return object(['scratchpad', 'operations', 'topics'], {
    scratchpad: string,
    operations: { type: 'array', items: { anyOf: variants } },
    topics: {
      type: 'array',
      items: object(['title', 'from', 'through'], {
        title: string,
        from: integer,
        through: integer,
      }),
    },
  });
}

/** A whole answer; its operations and topics are read one by one. */
const answerSchema = z.object({
  operations: z.array(z.unknown()),
  topics: z.array(z.unknown()).catch([]),
});

/** Items that share what stands beside them: the operation and the section. */
const groupSchema = z.looseObject({ items: z.array(z.unknown()) });
const itemSchema = z.looseObject({});

type AnswerProblem = 'TOO_LONG' | 'NOT_JSON' | 'NO_OPERATIONS' | 'MOSTLY_INVALID';

/** What the model wants changed in the snapshot, and what was talked about. */
export interface SummariserAnswer {
  operations: Operation[];
  topics: Topic[];
  /** Operations that could not be read; default 0. */
  skipped?: number;
}

type AnswerReading = ({ ok: true } & SummariserAnswer) | { ok: false; problem: AnswerProblem };

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
 * The operations of a group, one for each of its items: what the group says holds for all of them. What is no group
 * stands for itself, since models also write operations of one item.
 */
function ungrouped(stated: unknown): unknown[] {
  const group = groupSchema.safeParse(stated);
  if (!group.success) return [stated];
  const { items, ...shared } = group.data;
  return items.map((item) => {
    const fields = itemSchema.safeParse(item);
    return fields.success ? { ...shared, ...fields.data } : item;
  });
}

/**
 * The operations and topics of a model's answer, an item of a group being one operation. A single one that cannot be
 * read is skipped and counted; when more than half of the operations cannot, the answer is refused. An empty list is an
 * answer: nothing changed.
 */
export function readAnswer(text: string): AnswerReading {
  if (text.length > engineConstants.answerCharacters) return { ok: false, problem: 'TOO_LONG' };
  const json = jsonIn(text);
  if (json === undefined) return { ok: false, problem: 'NOT_JSON' };
  const answer = answerSchema.safeParse(Array.isArray(json) ? { operations: json } : json);
  if (!answer.success) return { ok: false, problem: 'NO_OPERATIONS' };
  const stated = answer.data.operations.flatMap(ungrouped);
  const read = stated
    .slice(0, engineConstants.operationLimit)
    .map((value) => operationSchema.safeParse(value));
  const operations = read.flatMap((result) => (result.success ? [result.data] : []));
  const invalid = read.length - operations.length;
  if (invalid > engineConstants.invalidOperationFraction * read.length)
    return { ok: false, problem: 'MOSTLY_INVALID' };
  const topics = answer.data.topics.slice(0, engineConstants.operationLimit).flatMap((value) => {
    const topic = topicSchema.safeParse(value);
    return topic.success ? [topic.data] : [];
  });
  return { ok: true, operations, topics, skipped: stated.length - operations.length };
}

/** By item: the last chunk that does this to it. */
function lastDoing(
  chunks: readonly SummariserAnswer[],
  kind: 'update' | 'remove',
): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const [index, { operations }] of chunks.entries())
    for (const operation of operations) if (operation.op === kind) last.set(operation.id, index);
  return last;
}

/**
 * The answers of chunks that were read side by side, as one in the order of the chunks. Where several chunks update an
 * item the last gives it its words, and those of the others stand beside it. A removal gives way to the update of
 * another chunk, whose turns still speak of the item.
 */
export function joinAnswers(chunks: readonly SummariserAnswer[]): SummariserAnswer {
  const updating = lastDoing(chunks, 'update');
  const removing = lastDoing(chunks, 'remove');
  const joined = (operation: Operation, index: number): Operation[] => {
    if (operation.op === 'add') return [operation];
    const last = updating.get(operation.id) ?? removing.get(operation.id);
    if (last === index) return [operation];
    return operation.op === 'update' ? [{ ...operation, isBeside: true }] : [];
  };
  return {
    operations: chunks.flatMap(({ operations }, index) =>
      operations.flatMap((operation) => joined(operation, index)),
    ),
    topics: chunks.flatMap(({ topics }) => topics),
    skipped: chunks.reduce((sum, { skipped = 0 }) => sum + skipped, 0),
  };
}
