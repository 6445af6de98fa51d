import fc, { type Arbitrary } from 'fast-check';
import { findMisfit } from '#shared/lib/json-schema.ts';
import type { JsonSchema } from '#infra/reference/openapi/schemas.ts';

/** Where named schemas are found. */
export type SchemaNames = Readonly<Record<string, JsonSchema>>;

/** The schema that a `$ref` names. Throws for one that is not there. */
export function resolved(schema: JsonSchema, names: SchemaNames): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const target = names[schema.$ref.replace('#/components/schemas/', '')];
  if (!target) throw new Error(`${schema.$ref} is not in the document`);
  return target;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const closedEach = (schemas: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, closed(each)]));

/** What was closed before: thousands of values are held against the hundreds of schemas of one document. */
const closedBefore = new WeakMap<object, unknown>();

/** Replies may gain fields one day; one that the document does not name today is a mistake. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const known = closedBefore.get(schema);
  if (known !== undefined) return known;
  const made = close(schema);
  closedBefore.set(schema, made);
  return made;
}

function close(schema: Record<string, unknown>) {
  const { properties, ...rest } = schema;
  if (!isObject(properties)) return closedEach(schema);
  return { additionalProperties: false, ...closedEach(rest), properties: closedEach(properties) };
}

/** Where a value is not what its schema says; undefined: nowhere. Patterns and formats are not looked at. */
export function misfitOf(
  value: unknown,
  schema: JsonSchema | boolean,
  names: SchemaNames,
): string | undefined {
  const root = { anyOf: [closed(schema)], components: { schemas: closed(names) } };
  return findMisfit(root, value);
}

const MOST_ENTRIES = 4;
const MOST_CHARACTERS = 40;

/** Text that is hard on parsers, stores and terminals, and text all the same. */
const HARD_TEXTS = [
  '안녕하세요',
  '👩‍👩‍👧‍👦',
  'مرحبا',
  '\u0000',
  '\r\n\r\ndata: x\n\nevent: y',
  '</state_snapshot>',
  '__proto__',
  "'; DROP TABLE users; --",
  '${7*7}{{7*7}}',
  '\u202E\uFEFF',
];

const text = (minLength: number, maxLength: number): Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'binary', minLength, maxLength }) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...HARD_TEXTS)
        .filter(({ length }) => length >= minLength && length <= maxLength),
    },
  );

/** By their patterns: fast-check searches long for the texts that it likes to try with each. */
const matchingTexts = new Map<string, Arbitrary<string>>();

function textMatching(pattern: string): Arbitrary<string> {
  const known = matchingTexts.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  matchingTexts.set(pattern, known);
  return known;
}

function stringOf(schema: JsonSchema): Arbitrary<string> {
  const { minLength = 0, maxLength = Infinity, pattern, format, contentEncoding } = schema;
  const fits = ({ length }: string) => length >= minLength && length <= maxLength;
  if (contentEncoding === 'base64')
    return fc.base64String({ minLength: Math.max(minLength, 4), maxLength: 64 });
  if (format === 'uri')
    return fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }).filter(fits);
  if (format === 'time-zone') return fc.constantFrom('Asia/Seoul', 'America/New_York', 'UTC');
  if (format === 'date-time') return fc.constant('2026-11-21T10:00:00.000Z');
  const most = Math.max(minLength, Math.min(maxLength, MOST_CHARACTERS));
  if (pattern?.includes(String.raw`\p{`)) {
    const regex = new RegExp(pattern, 'u');
    return text(minLength, most).filter((drawn) => fits(drawn) && regex.test(drawn));
  }
  if (pattern !== undefined) return textMatching(pattern).filter(fits);
  // A unit may be two characters long.
  return text(minLength, most).filter(fits);
}

function numberOf(schema: JsonSchema): Arbitrary<number> {
  const { minimum: min = -1_000_000, maximum: max = Math.max(min, 10_000_000) } = schema;
  if (schema.type === 'integer')
    return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
  const above = schema.exclusiveMinimum;
  return fc.double({
    min: above === undefined ? min : Number(above),
    minExcluded: above !== undefined,
    max,
    noNaN: true,
  });
}

/** An object of which one of several fields must be there: one schema for each choice. */
const withOneOf = (schema: JsonSchema): JsonSchema[] | undefined => {
  const { oneOf, properties, required = [], ...rest } = schema;
  if (!properties || !oneOf) return undefined;
  const choices = oneOf.map((choice) =>
    typeof choice === 'boolean' ? [] : (choice.required ?? []),
  );
  return choices.map((chosen) => {
    const left = choices.flat().filter((name) => !chosen.includes(name));
    const kept = Object.entries(properties).filter(([name]) => !left.includes(name));
    return { ...rest, required: [...required, ...chosen], properties: Object.fromEntries(kept) };
  });
};

function objectOf(schema: JsonSchema, names: SchemaNames): Arbitrary<object> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const known = Object.fromEntries(
    Object.entries(properties)
      .filter(([, each]) => typeof each === 'boolean' || each.not === undefined)
      .map(([name, each]) => [name, valueOf(each, names)]),
  );
  const least = required.filter((name) => name in known);
  const own = fc.oneof(
    fc.record(known, { requiredKeys: least }),
    fc.record(Object.fromEntries(Object.entries(known).filter(([name]) => least.includes(name)))),
  );
  if (typeof additionalProperties !== 'object') return own;
  const keys = propertyNames ? valueOf(propertyNames, names) : fc.string({ maxLength: 10 });
  const more = fc.dictionary(
    keys.map(String).filter((key) => key !== '__proto__'),
    valueOf(additionalProperties, names),
    { maxKeys: MOST_ENTRIES, noNullPrototype: true },
  );
  return fc.tuple(more, own).map(([extra, named]) => ({ ...extra, ...named }));
}

/** Made once: making it takes longer than most schemas do. */
const anyJson = fc.jsonValue({ maxDepth: 2 });

/** Values that the schema allows; small ones, with texts that are hard to handle among them. */
export function valueOf(given: JsonSchema | boolean, names: SchemaNames): Arbitrary<unknown> {
  if (typeof given === 'boolean') return anyJson;
  const schema = resolved(given, names);
  const choices = withOneOf(schema) ?? schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => valueOf(choice, names)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return stringOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valueOf(Array.isArray(schema.items) ? true : (schema.items ?? true), names), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? MOST_ENTRIES, MOST_ENTRIES),
      });
    case 'object':
      return objectOf(schema, names);
    case undefined:
    default:
      return anyJson;
  }
}
