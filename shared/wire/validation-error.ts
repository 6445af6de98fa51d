import type { z } from 'zod';
import { AppError } from '../errors.ts';

/** How many problems one answer names. */
const PROBLEMS_NAMED = 3;
/** UTF-16 units of an unknown field's name that are repeated to the caller. */
const NAME_SHOWN_CHARACTERS = 64;

/** Parts of a message, of our own requests and inside the `data` of a callable. */
const PARTS = /^(data\.)?message\.parts/;

type Issue = z.core.$ZodIssue;

const shown = (name: string) => name.slice(0, NAME_SHOWN_CHARACTERS).toWellFormed();

/** `message.parts[0].text`; '' for the value itself. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = shown(String(key));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

const isNumber = (origin: string) => origin === 'number' || origin === 'int';

const articleOf: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const kindOf = (expected: string) => articleOf[expected] ?? expected;

const unitOf = (origin: string) => {
  if (origin === 'string') return ' characters';
  return origin === 'array' || origin === 'set' ? ' entries' : '';
};

function sentence(issue: Issue, field: string): string {
  const name = field === '' ? 'The value' : `\`${field}\``;
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `${name} is missing: give ${kindOf(issue.expected)}.`
        : `${name} must be ${kindOf(issue.expected)}.`;
    case 'too_big':
      if (isNumber(issue.origin))
        return `${name} must be ${issue.inclusive ? 'at most' : 'below'} ${issue.maximum}.`;
      return `${name} may have at most ${issue.maximum}${unitOf(issue.origin)}. Shorten it.`;
    case 'too_small':
      if (isNumber(issue.origin))
        return `${name} must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}.`;
      return `${name} must have at least ${issue.minimum}${unitOf(issue.origin)}.`;
    case 'invalid_value':
      return `${name} must be one of: ${issue.values.map(String).join(', ')}.`;
    case 'invalid_union':
      if ('discriminator' in issue)
        return `${name} has no form that is known here. Check its \`${String(issue.discriminator)}\`.`;
      return issue.input === undefined
        ? `${name} is missing: it ${issue.message}.`
        : `${name}: ${issue.message}.`;
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return `${name}: ${issue.message}.`;
  }
}

/** The limit that every whole number has says nothing where the field has one of its own. */
const isBehindAnother = (issue: Issue, issues: readonly Issue[]) =>
  issue.code === 'too_big' &&
  issue.maximum === Number.MAX_SAFE_INTEGER &&
  issues.some(
    (other) =>
      other !== issue && other.code === 'too_big' && pathText(other.path) === pathText(issue.path),
  );

/** An unknown field is a problem of its own path, not of the object that holds it. */
function problemsOf(issue: Issue): { field: string; text: string }[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const field = pathText([...issue.path, key]);
      return { field, text: `\`${field}\` is not a field of this request. Remove it.` };
    });
  const field = pathText(issue.path);
  return [{ field, text: sentence(issue, field) }];
}

/**
 * The 400 of a request that its schema refused: names each field by its path, the limit and the remedy,
 * never the value. Reason BAD_PART for what lies in `message.parts`, else BAD_FIELD.
 */
export function validationError(error: z.ZodError): AppError {
  const problems = error.issues
    .filter((issue) => !isBehindAnother(issue, error.issues))
    .flatMap(problemsOf);
  const fields = problems.map(({ field }) => field);
  const isPart = fields.length > 0 && fields.every((field) => PARTS.test(field));
  const left = problems.length - PROBLEMS_NAMED;
  return new AppError({
    status: 'INVALID_ARGUMENT',
    reason: isPart ? 'BAD_PART' : 'BAD_FIELD',
    message: `a request was refused by its schema with ${problems.length} problems`,
    publicMessage: [
      ...problems.slice(0, PROBLEMS_NAMED).map(({ text }) => text),
      ...(left > 0 ? [`${left} more problems.`] : []),
    ].join(' '),
    metadata: { field: fields.slice(0, PROBLEMS_NAMED).join(',') },
    cause: error,
  });
}

/** Reads `value` by `schema`. Throws AppError BAD_FIELD | BAD_PART (400). */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error);
}
