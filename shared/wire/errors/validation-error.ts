import { AppError } from '#shared/lib/errors.ts';
import { safeParse } from '#shared/lib/safe-parse.ts';
import { nearestWord } from '#shared/text/nearest-word.ts';
import { z } from 'zod';

type Schema = z.core.$ZodType;
type Issue = z.core.$ZodIssue;

/** How many problems one answer names. */
const PROBLEMS_NAMED = 3;
/** Values of a request up to which all its problems are looked for; of a larger one the first is enough. */
const VALUES_READ_ON = 1_000;
/** UTF-16 units of an unknown field's name that are repeated to the caller. */
const NAME_SHOWN_CHARACTERS = 64;
/** More names than this are no help in one sentence. */
const FIELDS_LISTED = 8;

/** What lies in the parts of a message: of our own requests, and of the `data` of a callable. */
const PARTS = /^(data\.)?message\.parts/;

/** What is missing, or is no message, no list of parts or no part of a known type. */
const MISSHAPEN = /^(data\.)?message(\.id|\.parts(\[\d+\](\.type)?)?)?$/;
const MESSAGE_FORM =
  'A message is {"id":"<UUID>","parts":[{"type":"text","text":"…"}]}; a part with a file is {"type":"file","mediaType":"image/png","data":"<base64>"}.';

/**
 * Reads `value` by `schema`. Throws AppError BAD_PART (400) where it does not fit in `message.parts` alone, else
 * BAD_FIELD (400): each names the fields by their paths, with limit and remedy, and never a value.
 */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown): T {
  // Every problem costs as much as some hundred good values, and a list may hold thousands.
  const abortEarly = countValues(value, VALUES_READ_ON) > VALUES_READ_ON;
  const parsed = safeParse(schema, value, { reportInput: true, abortEarly });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, schema));
  const named = problems.slice(0, PROBLEMS_NAMED);
  const left = problems.length - named.length;
  throw new AppError({
    status: 'INVALID_ARGUMENT',
    reason: named.every(({ field }) => PARTS.test(field)) ? 'BAD_PART' : 'BAD_FIELD',
    message: `a request was refused by its schema with ${problems.length} problems`,
    publicMessage: [
      ...named.map(({ sentence }) => sentence),
      ...(left > 0 ? [`${left} more problems.`] : []),
      ...(named.some(({ field }) => MISSHAPEN.test(field)) ? [MESSAGE_FORM] : []),
    ].join(' '),
    metadata: { field: named.map(({ field }) => field).join(',') },
    cause: parsed.error,
  });
}

/** Values in `value`, itself included; stops counting behind `max`. */
function countValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const each of Object.values(value)) {
    if (count > max) break;
    count += countValues(each, max - count);
  }
  return count;
}

interface Problem {
  /** Path of the field; '' for the whole value. */
  field: string;
  sentence: string;
}

/** What is wrong with a value; each unknown field is a problem of its own path, not of the object that holds it. */
function problemsOf(issue: Issue, schema: Schema): Problem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const field = pathText([...path, key]);
      const remedy = unknownFieldRemedy(fieldsAt(schema, path), key);
      return { field, sentence: `\`${field}\` is not a field of this request. ${remedy}` };
    });
  const within = problemsWithin(issue);
  if (within) return within.flatMap((each) => problemsOf(each, schema));
  const field = pathText(path);
  const name = field === '' ? 'The body' : `\`${field}\``;
  return [{ field, sentence: issueSentence(issue, name) }];
}

/**
 * The problems of the only branch of a union that takes such a value as a whole: of a list of parts what is wrong
 * with one of them, instead of that it is neither a text nor a list. Undefined where there is no such branch.
 */
function problemsWithin(issue: Issue): Issue[] | undefined {
  if (issue.code !== 'invalid_union' || issue.discriminator !== undefined) return undefined;
  const branches = issue.errors.filter((issues) => issues.every(({ path }) => path.length > 0));
  const [branch] = branches;
  if (branch === undefined || branches.length > 1) return undefined;
  return branch.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
}

/** What is wrong with a field, its limit and what to do; never the value. */
function issueSentence(issue: Exclude<Issue, { code: 'unrecognized_keys' }>, name: string): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `${name} is missing: give ${kindOf(issue.expected)}.`
        : `${name} must be ${kindOf(issue.expected)}.`;
    case 'too_big':
      if (isNumber(issue.origin))
        return `${name} must be ${issue.inclusive ? 'at most' : 'below'} ${issue.maximum}.`;
      return `${name} may have at most ${amountOf(issue.maximum, issue.origin)}. Shorten it.`;
    case 'too_small':
      if (isNumber(issue.origin))
        return `${name} must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}.`;
      return `${name} must have at least ${amountOf(issue.minimum, issue.origin)}.`;
    case 'invalid_value':
      return `${name} ${choiceOf(issue.values)}.`;
    case 'invalid_union':
      if (issue.discriminator !== undefined)
        return `${name} ${'options' in issue && issue.options ? choiceOf(issue.options) : 'is not known here'}.`;
      return issue.input === undefined
        ? `${name} is missing: it ${issue.message}.`
        : `${name}: ${issue.message}.`;
    case 'invalid_key':
      return `${name}: ${issue.issues[0]?.message ?? issue.message}.`;
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_element':
    case 'custom':
      return `${name}: ${issue.message}.`;
  }
}

/** `must be 1`, `must be one of: a, b`. */
const choiceOf = (values: readonly unknown[]) =>
  values.length === 1
    ? `must be ${String(values[0])}`
    : `must be one of: ${values.map(String).join(', ')}`;

/** `1 entry`, `256 characters`; a bare number for what has no unit. */
function amountOf(count: number | bigint, origin: string): string {
  const isOne = Number(count) === 1;
  if (origin === 'string') return `${count} ${isOne ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `${count} ${isOne ? 'entry' : 'entries'}`;
  return String(count);
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const kindOf = (expected: string) => kinds[expected] ?? expected;

const isNumber = (origin: string) => origin === 'number' || origin === 'int';

/** What to do about a field that is not known: the one that was meant, or those there are. */
function unknownFieldRemedy(fields: readonly string[], key: string): string {
  const nearest = nearestWord(key, fields);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  if (fields.length === 0 || fields.length > FIELDS_LISTED) return 'Remove it.';
  return `Remove it; there are ${fields.map((field) => `\`${field}\``).join(', ')}.`;
}

/** The names that an object has at a path; none where there is no object, or a choice of several. */
function fieldsAt(schema: Schema | undefined, [key, ...rest]: readonly PropertyKey[]): string[] {
  const taken = inner(schema);
  if (taken instanceof z.ZodArray) return key === undefined ? [] : fieldsAt(taken.element, rest);
  if (!(taken instanceof z.ZodObject)) return [];
  const shape: Readonly<Record<string, Schema>> = taken.shape;
  return key === undefined ? Object.keys(shape) : fieldsAt(shape[String(key)], rest);
}

/** What a schema takes, without what it makes of it. */
function inner(schema: Schema | undefined): Schema | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    return inner(schema.unwrap());
  if (!(schema instanceof z.ZodPipe)) return schema;
  return inner(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
}

/** `message.parts[0].text`; '' for the value itself. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = String(key).slice(0, NAME_SHOWN_CHARACTERS).toWellFormed();
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
