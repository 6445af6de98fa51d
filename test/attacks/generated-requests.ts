import fc, { type Arbitrary } from 'fast-check';
import type { OpenApiDocument } from '#infra/reference/openapi/build-document.ts';
import type { Parameter, Operation } from '#infra/reference/openapi/path-item.ts';
import type { JsonSchema } from '#infra/reference/openapi/schemas.ts';
import { valueOf, resolved, type SchemaNames, misfitOf } from './json-schema.ts';

/** One operation of the document with its place. */
export interface Target {
  method: string;
  path: string;
  operation: Operation;
}

export const targetsOf = (document: OpenApiDocument): Target[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );

/** A value of a path: one that something has, or a text of its own. */
type PathValue = { known: number } | { text: string };

/**
 * What the document says of a request: that it is right, that one thing of it is wrong, or nothing, because
 * it was drawn without looking.
 */
type Kind = 'valid' | 'broken' | 'wild';

export interface GeneratedRequest {
  target: Target;
  kind: Kind;
  path: Record<string, PathValue>;
  query: [string, string][];
  headers: Record<string, string>;
  body: string | undefined;
}

type Draw<T> = Arbitrary<{ kind: Kind; value: T }>;

const as = <T>(kind: Kind, drawn: Arbitrary<T>): Draw<T> => drawn.map((value) => ({ kind, value }));

const mixed = <T>(...choices: [weight: number, draw: Draw<T>][]): Draw<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const junk = fc.oneof(
  fc.string({ minLength: 1, maxLength: 60, unit: 'binary' }),
  fc.constantFrom('-1', '0', 'null', 't_0', 'm_-1', '99999999999999', '%00', '__proto__', 'me'),
);

/** A browser takes `.` and `..` for directories. */
const junkSegment = junk.filter((text) => !/^\.{1,2}$/.test(text));

const pathValue = (schema: JsonSchema): Draw<PathValue> =>
  mixed<PathValue>(
    [
      8,
      as(
        'valid',
        fc.nat({ max: 9 }).map((known) => ({ known })),
      ),
    ],
    [
      2,
      as(
        'valid',
        valueOf(schema, {}).map((value) => ({ text: String(value) })),
      ),
    ],
    [
      1,
      as(
        'wild',
        junkSegment.map((text) => ({ text })),
      ),
    ],
  );

const byPlace = ({ operation }: Target, place: Parameter['in']) =>
  operation.parameters.filter((parameter) => parameter.in === place);

function pathOf(target: Target): Draw<Record<string, PathValue>> {
  const values = byPlace(target, 'path').map(({ name, schema }) =>
    pathValue(schema).map(({ kind, value }) => ({ kind, entry: [name, value] as const })),
  );
  return fc.tuple(...values).map((drawn) => ({
    kind: drawn.some(({ kind }) => kind === 'wild') ? 'wild' : 'valid',
    value: Object.fromEntries(drawn.map(({ entry }) => entry)),
  }));
}

function queryOf(target: Target): Draw<[string, string][]> {
  const parameters = byPlace(target, 'query');
  const values = fc.record(
    Object.fromEntries(parameters.map(({ name, schema }) => [name, valueOf(schema, {})])),
    { requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) },
  );
  const valid = values.map((drawn) =>
    Object.entries(drawn).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const names = parameters.map(({ name }) => name);
  const wild = fc.array(
    fc.tuple(fc.oneof(fc.constantFrom('x', ...names), fc.string({ maxLength: 12 })), junk),
    { maxLength: 3 },
  );
  return mixed([6, as('valid', valid)], [1, as('wild', wild)]);
}

/** Field values of HTTP/1.1: visible ASCII and spaces inside. */
const headerText = fc.stringMatching(/^[!-~](?:[ -~]{0,38}[!-~])?$/);

const maybe = <T>(arbitrary: Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 4 });

/** Headers that may change an answer and are never a mistake. */
const calmHeaders = fc.record({
  accept: maybe(fc.constantFrom('application/json', 'text/event-stream', '*/*')),
  'accept-language': maybe(fc.constantFrom('ko-KR,ko;q=0.9', 'en', 'xx-invalid!')),
});

const wildHeaders = fc.record({
  accept: maybe(headerText),
  'accept-language': maybe(headerText),
  'last-event-id': maybe(fc.oneof(fc.nat().map(String), headerText)),
  'if-match': maybe(headerText),
  'if-none-match': maybe(headerText),
  'content-type': maybe(headerText),
  'content-encoding': maybe(fc.constantFrom('gzip', 'br', 'identity', 'x')),
  'x-cloud-trace-context': maybe(headerText),
  'x-conversation-id': maybe(headerText),
});

const defined = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

const headersOf: Draw<Record<string, string>> = mixed(
  [5, as('valid', calmHeaders.map(defined))],
  [1, as('wild', wildHeaders.map(defined))],
);

type JsonObject = Record<string, unknown>;

const isPlain = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes the value anew with one thing in it that its schema refuses. */
type Breakage = () => unknown;

const without = (value: JsonObject, name: string): JsonObject => {
  const { [name]: _, ...rest } = value;
  return rest;
};

const wrongByType: Readonly<Record<string, unknown>> = {
  string: 7,
  integer: 'seven',
  number: 'seven',
  boolean: 'yes',
  array: 'text',
  object: 'text',
};

/** A value that is of none of the schema's types; undefined where it takes anything. */
function wrongValue({ type, enum: values, const: only }: JsonSchema): unknown {
  if (values || only !== undefined) return 'no-such-value';
  return typeof type === 'string' ? wrongByType[type] : undefined;
}

/** The form of a union that a value has. */
function formOf(value: unknown, given: JsonSchema, names: SchemaNames): JsonSchema {
  const schema = resolved(given, names);
  const choices = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  const form = choices?.find((choice) => misfitOf(value, choice, names) === undefined);
  return typeof form === 'object' ? formOf(value, form, names) : schema;
}

/** Whether a value that belongs nowhere may stand in place of one of this schema. */
const isUnion = (schema: JsonSchema) => (schema.anyOf ?? schema.oneOf) !== undefined;

function propertyBreakages(
  value: JsonObject,
  { name, property }: { name: string; property: JsonSchema },
  names: SchemaNames,
): Breakage[] {
  const wrong = isUnion(property) ? undefined : wrongValue(resolved(property, names));
  return [
    ...(wrong === undefined ? [] : [() => ({ ...value, [name]: wrong })]),
    ...breakagesOf(value[name], property, names).map((way) => () => ({ ...value, [name]: way() })),
  ];
}

/**
 * Every way to make one thing wrong: an unknown field where none may be, a required one missing, a value of
 * another type; at any depth.
 */
function breakagesOf(value: unknown, given: JsonSchema, names: SchemaNames): Breakage[] {
  const schema = formOf(value, given, names);
  if (Array.isArray(value)) {
    const { items } = schema;
    if (typeof items !== 'object' || Array.isArray(items)) return [];
    return value.flatMap((entry, index) =>
      breakagesOf(entry, items, names).map((way) => () => value.with(index, way())),
    );
  }
  if (!isPlain(value)) return [];
  const { properties = {}, required = [], additionalProperties } = schema;
  return [
    ...(additionalProperties === false ? [() => ({ ...value, noSuchField: 1 })] : []),
    ...required.filter((name) => name in value).map((name) => () => without(value, name)),
    ...Object.entries(properties)
      .filter(([name]) => name in value)
      .flatMap(([name, property]) =>
        typeof property === 'boolean' ? [] : propertyBreakages(value, { name, property }, names),
      ),
  ];
}

const rawBodies = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('', 'null', '[]', '{"__proto__":{}}', '{"a":1e999}', '{'.repeat(200)),
  fc.nat({ max: 40 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
);

function bodyOf(target: Target, document: OpenApiDocument): Draw<string | undefined> {
  if (target.method === 'GET') return as('valid', fc.constant(undefined));
  const names = document.components.schemas;
  const { requestBody } = target.operation;
  const wild = as<string | undefined>('wild', rawBodies);
  if (!requestBody) {
    const empty = as('valid', fc.constantFrom(undefined, '{}'));
    return mixed([4, empty], [1, wild], [1, as('broken', fc.constant('{"unknown":1}'))]);
  }
  const { schema, example } = requestBody.content['application/json'];
  const values = valueOf(schema, names);
  const broken: Draw<string | undefined> = fc
    .tuple(values.filter(isPlain), fc.nat())
    .map(([value, choice]) => {
      const ways = breakagesOf(value, schema, names);
      const way = ways[choice % Math.max(1, ways.length)];
      return way
        ? { kind: 'broken', value: JSON.stringify(way()) }
        : { kind: 'wild', value: JSON.stringify(value) };
    });
  const valid = as<string | undefined>(
    'valid',
    values.map((value) => JSON.stringify(value)),
  );
  const shown = as<string | undefined>('valid', fc.constant(JSON.stringify(example ?? {})));
  const examples: [number, typeof shown][] = example === undefined ? [] : [[1, shown]];
  return mixed([5, valid], [3, broken], [1, wild], ...examples);
}

/** One thing that was drawn without looking hides what else is wrong. */
function kindOf(kinds: readonly Kind[]): Kind {
  if (kinds.includes('wild')) return 'wild';
  return kinds.includes('broken') ? 'broken' : 'valid';
}

/** Requests of one operation, right ones and wrong ones. */
export const requestsOf = (
  target: Target,
  document: OpenApiDocument,
): Arbitrary<GeneratedRequest> =>
  fc
    .tuple(pathOf(target), queryOf(target), headersOf, bodyOf(target, document))
    .map(([path, query, headers, body]) => ({
      target,
      kind: kindOf([path.kind, query.kind, headers.kind, body.kind]),
      path: path.value,
      query: query.value,
      headers: headers.value,
      body: body.value,
    }));
