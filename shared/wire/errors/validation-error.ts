import { AppError } from '#shared/errors.ts';
import { safeParse } from '#shared/safe-parse.ts';
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

/** Reads `value` by `schema`. Throws AppError BAD_FIELD | BAD_PART (400). */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown): T {
  // Every problem costs as much as some hundred good values, and a list may hold thousands.
  const abortEarly = countValues(value, VALUES_READ_ON) > VALUES_READ_ON;
  const parsed = safeParse(schema, value, { reportInput: true, abortEarly });
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error, schema);
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
      ...(isMisshapen && !told.includes('"type":"text"') ? [TEXT_HINT] : []),
    ].join(' '),
    metadata: { field: fields.join(',') },
    cause: error,
  });
}

/* Which of the problems are named. */

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

/** The limit that every whole number has says nothing where the field has one of its own. */
const isBehindAnother = (issue: Issue, issues: readonly Issue[]) =>
  issue.code === 'too_big' &&
  issue.maximum === Number.MAX_SAFE_INTEGER &&
  issues.some(
    (other) =>
      other !== issue && other.code === 'too_big' && pathText(other.path) === pathText(issue.path),
  );

/** One thing that is wrong: an issue, or one of the unknown fields that an issue lists. */
interface Problem {
  issue: Issue;
  unknownField?: string;
}

function problemsOf(issue: Issue): Problem[] {
  const problems = problemsOfBranch(issue);
  if (problems) return problems.flatMap(problemsOf);
  if (issue.code !== 'unrecognized_keys') return [{ issue }];
  return issue.keys.map((unknownField) => ({ issue, unknownField }));
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
  return branch.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
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

/** The sentence with what the reference says of a missing field, and the fields of an object. */
function withShape(sentence: string, issue: Issue, schema: z.ZodType): string {
  if (issue.code !== 'invalid_type' || sentence.includes(' such as ')) return sentence;
  const fields = listFields(fieldsAt(schema, issue.path));
  const shaped = fields === '' ? sentence : sentence.replace(/\.$/, ` with ${fields}.`);
  const meaning = issue.input === undefined ? meaningAt(schema, issue.path) : '';
  return meaning === '' ? shaped : `${shaped} ${meaning}`;
}

/* What is wrong with a field, as a sentence. */

/** What is wrong with a field of a request, its limit and what to do, as one sentence; never the value. */
function issueSentence(issue: Issue, field: string): string {
  const name = field === '' ? 'The body' : `\`${field}\``;
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `${name} is missing: give ${kindByField(field) ?? kindOf(issue.expected)}.`
        : `${name} must be ${kindByField(field) ?? kindOf(issue.expected)}.`;
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
      return `${unionSentence(issue, name)}${partForms(field)}`;
    case 'invalid_key':
      return `${name}: ${issue.issues[0]?.message ?? issue.message}.`;
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_element':
    case 'custom':
      return `${name}: ${issue.message}.`;
  }
}

function unionSentence(issue: z.core.$ZodIssueInvalidUnion, name: string): string {
  if (issue.discriminator === undefined)
    return issue.input === undefined
      ? `${name} is missing: it ${issue.message}.`
      : `${name}: ${issue.message}.`;
  const known = 'options' in issue && issue.options ? choiceOf(issue.options) : 'is not known here';
  return `${name} ${known}.`;
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

const isNumber = (origin: string) => origin === 'number' || origin === 'int';

/* What to do about a field that is not known. */

/** What to do about a field that is not known: where it belongs, the one that was meant, or those there are. */
function unknownFieldRemedy(
  schema: Schema,
  { path, key }: { path: readonly PropertyKey[]; key: string },
): string {
  const remedy = Object.hasOwn(remedies, key) ? remedies[key] : moveRemedy(schema, { path, key });
  if (remedy !== undefined) return remedy;
  const fields = fieldsAt(schema, path);
  const nearest = nearestWord(key, fields);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  const listed = listFields(fields);
  return listed === '' ? 'Remove it.' : `Remove it; there are ${listed}.`;
}

/** What to do about a field that belongs to another object or request of ours. */
function moveRemedy(
  schema: Schema,
  place: { path: readonly PropertyKey[]; key: string },
): string | undefined {
  if (isOpenAiTool(place)) return OPENAI_TOOL;
  const moved = rightPlace(schema, place);
  if (moved !== undefined) return moved;
  const fields = fieldsAt(schema, place.path);
  if (
    fields.includes('onBusy') &&
    fields.includes('responseSchema') &&
    OF_CONVERSATION.has(place.key)
  )
    return ON_CONVERSATION;
  const isMessage = fields.includes('message') || fields.includes('parts');
  return isMessage && TEXT_NAMES.has(place.key) ? TEXT_PLACE : undefined;
}

/** Where a field belongs that is known, one level above or below the object in which it was sent. */
function rightPlace(
  schema: Schema,
  { path, key }: { path: readonly PropertyKey[]; key: string },
): string | undefined {
  const above = path.slice(0, -1);
  const holder = path.at(-1);
  if (typeof holder === 'string' && fieldsAt(schema, above).includes(key))
    return `It stands beside \`${at(above)}${holder}\`, not in it.`;
  const below = fieldsAt(schema, path).find((name) =>
    fieldsAt(schema, [...path, name]).includes(key),
  );
  return below === undefined ? undefined : `It belongs into \`${at(path)}${below}\`.`;
}

const at = (path: readonly PropertyKey[]) => path.map((key) => `${String(key)}.`).join('');

/** Whether a field is what a tool of OpenAI's form has in the place of ours: the cause of all else. */
const isOpenAiTool = ({ path, key }: { path: readonly PropertyKey[]; key: string }) =>
  key === 'function' && path.at(-2) === 'tools';

const OPENAI_TOOL =
  'Take the fields out of `function`, put them in its place, and leave `type` out.';

/** Fields of other APIs that people send to ours, and what does the same here. */
const remedies: Readonly<Record<string, string>> = {
  stream:
    'Leave it out, and send the header `Accept: text/event-stream` where the answer shall be a stream.',
};

/** What is set on a conversation and not with a message of it. */
const OF_CONVERSATION: ReadonlySet<string> = new Set([
  'model',
  'profile',
  'settings',
  'system',
  'systemInstruction',
  'thresholdTokens',
  'tools',
]);
const ON_CONVERSATION = 'It is set on the conversation: PATCH /v1/conversations/{conversationId}.';

/** What other APIs call the text of a message. */
const TEXT_NAMES: ReadonlySet<string> = new Set(['text', 'content', 'contents', 'prompt']);
const TEXT_PLACE = 'The text goes into the parts of the message: [{"type":"text","text":"…"}].';

/* The fields of a schema. */

/** The names that an object has at a path; none where there is no object, or a choice of several. */
function fieldsAt(schema: Schema, path: readonly PropertyKey[]): string[] {
  const taken = inner(schemaAt(schema, path));
  return taken instanceof z.ZodObject ? Object.keys(taken.shape) : [];
}

/** The schema of a field; undefined behind a choice of several. */
function schemaAt(
  schema: Schema | undefined,
  [key, ...rest]: readonly PropertyKey[],
): Schema | undefined {
  if (key === undefined) return schema;
  const taken = inner(schema);
  if (taken instanceof z.ZodObject) {
    const shape: Readonly<Record<string, Schema>> = taken.shape;
    return schemaAt(shape[String(key)], rest);
  }
  return taken instanceof z.ZodArray ? schemaAt(taken.element, rest) : undefined;
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

/** `\`id\`, \`parts\``; '' for none, or for more than help. */
const listFields = (fields: readonly string[]): string =>
  fields.length > FIELDS_LISTED ? '' : fields.map((field) => `\`${field}\``).join(', ');

/** What is said of a field in the reference, its first sentence; '' for nothing. */
function meaningAt(schema: Schema, path: readonly PropertyKey[]): string {
  const found = schemaAt(schema, path);
  const told = [found, inner(found)].map((each) =>
    each instanceof z.ZodType ? each.description : undefined,
  );
  const text = told.find((each) => each !== undefined) ?? '';
  return /^.*?[.;](?=\s|$)/.exec(text)?.[0].replace(/;$/, '.') ?? text;
}

/** `message.parts[0].text`; '' for the value itself. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = shown(String(key));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

const shown = (name: string) => name.slice(0, NAME_SHOWN_CHARACTERS).toWellFormed();

/* What fields of a message look like, for whoever sent something else. */

const TEXT_PART = '{"type":"text","text":"…"}';
const FILE_PART = '{"type":"file","mediaType":"image/png","data":"<base64>"}';

/** Where a message stands: our own requests have it, and the `data` of a callable. */
const PREFIX = String.raw`^(data\.)?`;

/** Fields, and what is given for each. */
const kinds: readonly [field: RegExp, kind: string][] = [
  [new RegExp(`${PREFIX}message$`), `an object such as {"id":"<UUID>","parts":[${TEXT_PART}]}`],
  [new RegExp(String.raw`${PREFIX}message\.id$`), 'a UUID that the app draws'],
  [new RegExp(`${PREFIX}conversationId$`), 'a UUID, version 4 or 7, that the app draws'],
  [new RegExp(String.raw`${PREFIX}message\.parts$`), `a list such as [${TEXT_PART}]`],
  [new RegExp(String.raw`${PREFIX}message\.parts\[\d+\]$`), `an object such as ${TEXT_PART}`],
];

/** What a field takes, more closely than its type says; undefined for most fields. */
const kindByField = (field: string): string | undefined =>
  kinds.find(([pattern]) => pattern.test(field))?.[1];

const PART_TYPE = new RegExp(String.raw`${PREFIX}message\.parts\[\d+\]\.type$`);

/** A sentence with the forms of parts where `field` is the type of one; else ''. */
const partForms = (field: string): string =>
  PART_TYPE.test(field) ? ` Parts are ${TEXT_PART} and, for pictures and files, ${FILE_PART}.` : '';

/** What lies in the parts of a message. */
const PARTS = new RegExp(String.raw`${PREFIX}message\.parts`);

/** What is no list of parts, or no part of a known type. */
const MISSHAPEN_PART = new RegExp(String.raw`${PREFIX}message\.parts(\[\d+\](\.type)?)?$`);

const TEXT_HINT = `A text is \`[${TEXT_PART}]\`.`;
