import fc, { type Arbitrary } from 'fast-check';
import type { OpenApiDocument } from '#infra/reference/openapi/build-document.ts';
import type { Parameter, Operation } from '#infra/reference/openapi/path-item.ts';
import type { JsonSchema } from '#infra/reference/openapi/schemas.ts';
import { valueOf } from './json-schema.ts';

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

/** What the document says of a request: that it is right, or nothing, because it was drawn without looking. */
type Kind = 'valid' | 'wild';

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
    return mixed([4, empty], [1, wild]);
  }
  const { schema, example } = requestBody.content['application/json'];
  const valid = as<string | undefined>(
    'valid',
    valueOf(schema, names).map((value) => JSON.stringify(value)),
  );
  const shown = as<string | undefined>('valid', fc.constant(JSON.stringify(example ?? {})));
  const examples: [number, typeof shown][] = example === undefined ? [] : [[1, shown]];
  return mixed([5, valid], [1, wild], ...examples);
}

/** Requests of one operation, right ones and others. */
export const requestsOf = (
  target: Target,
  document: OpenApiDocument,
): Arbitrary<GeneratedRequest> =>
  fc
    .tuple(pathOf(target), queryOf(target), headersOf, bodyOf(target, document))
    .map(([path, query, headers, body]) => ({
      target,
      // One thing that was drawn without looking hides what else is wrong.
      kind: [path, query, headers, body].some((drawn) => drawn.kind === 'wild') ? 'wild' : 'valid',
      path: path.value,
      query: query.value,
      headers: headers.value,
      body: body.value,
    }));
