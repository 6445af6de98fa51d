import type { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { safeParse } from '#shared/safe-parse.ts';
import { fieldsAt, listFields, meaningAt } from './schema-at.ts';
import { isOpenAiTool, unknownFieldRemedy } from './unknown-field.ts';
import { issueSentence } from './issue-sentence.ts';

/** How many problems one answer names. */
const PROBLEMS_NAMED = 3;
/** Values of a request up to which all its problems are looked for; of a larger one the first is enough. */
const VALUES_READ_ON = 1_000;
/** UTF-16 units of an unknown field's name that are repeated to the caller. */
const NAME_SHOWN_CHARACTERS = 64;

/** Parts of a message, of our own requests and inside the `data` of a callable. */
const PARTS = /^(data\.)?message\.parts/;

/** What is no list of parts, or no part of a known type. */
const MISSHAPEN_PART = /^(data\.)?message\.parts(\[\d+\](\.type)?)?$/;
const TEXT_PART = 'A text is `[{"type":"text","text":"…"}]`.';

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

/** The limit that every whole number has says nothing where the field has one of its own. */
const isBehindAnother = (issue: Issue, issues: readonly Issue[]) =>
  issue.code === 'too_big' &&
  issue.maximum === Number.MAX_SAFE_INTEGER &&
  issues.some(
    (other) =>
      other !== issue && other.code === 'too_big' && pathText(other.path) === pathText(issue.path),
  );

/** Of a tool in OpenAI's form only the field that says so: what else is wrong with it follows from that. */
function onlyCauses(issues: readonly Issue[]): Issue[] {
  const causes = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' &&
    issue.keys.some((key) => isOpenAiTool({ path: issue.path, key }))
      ? [{ ...issue, keys: ['function'] }]
      : [],
  );
  const places = causes.map(({ path }) => pathText(path));
  const isEffect = ({ path }: Issue) =>
    places.some((place) => pathText(path.slice(0, 2)) === place);
  return [...causes, ...issues.filter((issue) => !isEffect(issue))];
}

/** Whether what is wrong lies in the value, such as in an entry of a list, and not in what it is. */
const isWithin = (issues: readonly Issue[]) => issues.every(({ path }) => path.length > 0);

/**
 * The problems of the only branch of a union that takes such a value as a whole: of a list of parts what is wrong
 * with one of them, instead of that it is neither a text nor a list. Undefined where there is no such branch.
 */
function problemsOfBranch(issue: Issue): Issue[] | undefined {
  if (issue.code !== 'invalid_union' || issue.discriminator !== undefined) return undefined;
  const branches = issue.errors.filter(isWithin);
  const [branch] = branches;
  if (branch === undefined || branches.length > 1) return undefined;
  return branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** The sentence with what the reference says of a missing field, and the fields of an object. */
function withShape(sentence: string, issue: Issue, schema: z.ZodType): string {
  if (issue.code !== 'invalid_type' || sentence.includes(' such as ')) return sentence;
  const fields = listFields(fieldsAt(schema, issue.path));
  const shaped = fields === '' ? sentence : sentence.replace(/\.$/, ` with ${fields}.`);
  const meaning = issue.input === undefined ? meaningAt(schema, issue.path) : '';
  return meaning === '' ? shaped : `${shaped} ${meaning}`;
}

/** One thing that is wrong: an issue, or one of the unknown fields that an issue lists. */
interface Problem {
  issue: Issue;
  unknownField?: string;
}

function problemsOf(issue: Issue): Problem[] {
  const inner = problemsOfBranch(issue);
  if (inner) return inner.flatMap(problemsOf);
  if (issue.code !== 'unrecognized_keys') return [{ issue }];
  return issue.keys.map((unknownField) => ({ issue, unknownField }));
}

/** An unknown field is a problem of its own path, not of the object that holds it. */
function describe(
  { issue, unknownField: key }: Problem,
  schema: z.ZodType,
): { field: string; text: string } {
  if (key !== undefined) {
    const field = pathText([...issue.path, key]);
    const remedy = unknownFieldRemedy(schema, { path: issue.path, key });
    return { field, text: `\`${field}\` is not a field of this request. ${remedy}` };
  }
  const field = pathText(issue.path);
  return { field, text: withShape(issueSentence(issue, field), issue, schema) };
}

/**
 * The 400 of a request that its schema refused: names each field by its path, the limit and the remedy,
 * never the value. Reason BAD_PART for what lies in `message.parts`, else BAD_FIELD.
 */
function validationError(error: z.ZodError, schema: z.ZodType): AppError {
  const problems = onlyCauses(error.issues)
    .filter((issue) => !isBehindAnother(issue, error.issues))
    .flatMap(problemsOf);
  const named = problems.slice(0, PROBLEMS_NAMED).map((problem) => describe(problem, schema));
  const fields = named.map(({ field }) => field);
  const isPart = fields.length > 0 && fields.every((field) => PARTS.test(field));
  const left = problems.length - named.length;
  const told = named.map(({ text }) => text).join(' ');
  const isMisshapen = fields.some((field) => MISSHAPEN_PART.test(field));
  return new AppError({
    status: 'INVALID_ARGUMENT',
    reason: isPart ? 'BAD_PART' : 'BAD_FIELD',
    message: `a request was refused by its schema with ${problems.length} problems`,
    publicMessage: [
      told,
      ...(left > 0 ? [`${left} more problems.`] : []),
      ...(isMisshapen && !told.includes('"type":"text"') ? [TEXT_PART] : []),
    ].join(' '),
    metadata: { field: fields.join(',') },
    cause: error,
  });
}

/** Values in `value`, itself included; stops counting behind `max`. */
function countValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) {
    if (count > max) break;
    count += countValues(inner, max - count);
  }
  return count;
}

/** Reads `value` by `schema`. Throws AppError BAD_FIELD | BAD_PART (400). */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown): T {
  // Every problem costs as much as some hundred good values, and a list may hold thousands.
  const abortEarly = countValues(value, VALUES_READ_ON) > VALUES_READ_ON;
  const parsed = safeParse(schema, value, { reportInput: true, abortEarly });
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error, schema);
}
