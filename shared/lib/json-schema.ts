import { z } from 'zod';
import { canonicalJson } from './json-text.ts';

/** A JSON Schema (2020-12) that a client gave, or a schema inside it. */
type Schema = boolean | SchemaObject;
type SchemaObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const decoded = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~');

/** What a `$ref` such as `#/$defs/day` leads to, in the schema itself alone; undefined: to nothing. */
function resolveRef(root: Schema, ref: string): unknown {
  const [document, ...segments] = ref.split('/').map(decoded);
  if (document !== '#') return undefined;
  return segments.reduce<unknown>((target, name) => {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name))
      return undefined;
    const inner: unknown = Reflect.get(target, name);
    return inner;
  }, root);
}

const typeName = z.enum(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

const innerSchema: z.ZodType = z.lazy(() =>
  z.union([z.boolean(), schemaForm], 'must be a schema: an object, true or false'),
);

const keywords = (form: z.ZodType, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, form.optional()]));

/** The forms of the keywords that `findMisfit` checks; others may say anything. */
export const schemaForm = z.looseObject({
  type: z
    .union(
      [typeName, z.array(typeName).min(1)],
      `must be one of: ${typeName.options.join(', ')}, or a list of these`,
    )
    .optional(),
  enum: z.array(z.unknown()).optional(),
  $ref: z.string().startsWith('#', 'must begin with #: no other document is read').optional(),
  required: z.array(z.string()).optional(),
  multipleOf: z.number().positive().optional(),
  uniqueItems: z.boolean().optional(),
  ...keywords(z.number(), 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...keywords(z.number().nonnegative(), 'minLength', 'maxLength', 'minItems', 'maxItems'),
  ...keywords(z.number().nonnegative(), 'minProperties', 'maxProperties'),
  ...keywords(innerSchema, 'not', 'if', 'then', 'else', 'items', 'additionalProperties'),
  ...keywords(z.array(innerSchema), 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...keywords(z.record(z.string(), innerSchema), 'properties', '$defs', 'definitions'),
});

/** The first `$ref` of a schema, or of one inside it, that leads to no schema; undefined: there is none. */
export function findBrokenRef(root: SchemaObject, value: unknown = root): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const ref: unknown = Reflect.get(value, '$ref');
  if (typeof ref === 'string') {
    const target = resolveRef(root, ref);
    if (typeof target !== 'boolean' && !isObject(target)) return ref;
  }
  for (const inner of Object.values(value)) {
    const broken = findBrokenRef(root, inner);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** Steps of one check, about half a microsecond each: a client's schema may cost no more, whatever the model answers. */
const STEPS_MAX = 100_000;

/** Misfits that are told; the rest shows when these are mended. */
const MISFITS_TOLD = 3;
/** UTF-16 units of all of them: names of properties may be long. */
const MISFITS_MAX_CHARACTERS = 1_000;

class OutOfSteps extends Error {}

interface Misfit {
  /** From the value that was held against the schema to what is wrong in it. */
  path: (string | number)[];
  message: string;
}

/** One check of one whole value. */
interface Check {
  root: Schema;
  steps: number;
}

function spend(check: Check, steps: number): void {
  check.steps += steps;
  if (check.steps > STEPS_MAX) throw new OutOfSteps('a check was given up');
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const schemaOf = (value: unknown): Schema =>
  typeof value === 'boolean' || isObject(value) ? value : true;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const isOfType = (value: unknown, type: unknown) =>
  type === 'integer' ? Number.isInteger(value) : type === kindOf(value);

function jsonOf(value: unknown, check: Check): string {
  const json = canonicalJson(value);
  spend(check, json.length / 2);
  return json;
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

function isEqual(a: unknown, b: unknown, check: Check): boolean {
  // Two texts or numbers are compared in nearly no time, and an `enum` has many.
  spend(check, 0.02);
  return isPlain(a) || isPlain(b) ? a === b : jsonOf(a, check) === jsonOf(b, check);
}

/** `12` is a multiple of `0.1`, though the division of the two leaves a rest. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

/** What of a number, or of the size of something, is beyond the bounds of two keywords. */
function beyond(
  schema: SchemaObject,
  size: number,
  { min, max, unit }: { min: string; max: string; unit?: string },
): string[] {
  const { [min]: least, [max]: most } = schema;
  const told = (bound: string) =>
    unit === undefined ? `must be ${bound}` : `must have ${bound} ${unit}`;
  return [
    ...(typeof least === 'number' && size < least ? [told(`at least ${least}`)] : []),
    ...(typeof most === 'number' && size > most ? [told(`at most ${most}`)] : []),
  ];
}

function numberMisfits(schema: SchemaObject, value: number): string[] {
  const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf: divisor } = schema;
  return [
    ...beyond(schema, value, { min: 'minimum', max: 'maximum' }),
    ...(typeof above === 'number' && value <= above ? [`must be above ${above}`] : []),
    ...(typeof below === 'number' && value >= below ? [`must be below ${below}`] : []),
    ...(typeof divisor === 'number' && !isMultiple(value, divisor)
      ? [`must be a multiple of ${divisor}`]
      : []),
  ];
}

function textMisfits(schema: SchemaObject, text: string, check: Check): string[] {
  if (schema['minLength'] === undefined && schema['maxLength'] === undefined) return [];
  spend(check, text.length / 50);
  const bounds = { min: 'minLength', max: 'maxLength', unit: 'characters' };
  // Code points, as JSON Schema counts them.
  return beyond(schema, Array.from(text).length, bounds);
}

function listMisfits(schema: SchemaObject, list: readonly unknown[], check: Check): string[] {
  const isRepeated =
    schema['uniqueItems'] === true &&
    new Set(list.map((item) => jsonOf(item, check))).size < list.length;
  return [
    ...beyond(schema, list.length, { min: 'minItems', max: 'maxItems', unit: 'items' }),
    ...(isRepeated ? ['has an item twice'] : []),
  ];
}

function objectMisfits(schema: SchemaObject, value: SchemaObject, check: Check): string[] {
  const required = listOf(schema['required']);
  const names = Object.keys(value);
  spend(check, required.length + names.length);
  const bounds = { min: 'minProperties', max: 'maxProperties', unit: 'properties' };
  const missing = required.filter((name) => !Object.hasOwn(value, String(name)));
  return [
    ...missing.slice(0, MISFITS_TOLD).map((name) => `lacks "${String(name)}"`),
    ...beyond(schema, names.length, bounds),
  ];
}

/** What is wrong with the value itself, whatever is inside it. */
function ownMisfits(schema: SchemaObject, value: unknown, check: Check): string[] {
  const { type, enum: values, const: constant } = schema;
  const types = typeof type === 'string' ? [type] : listOf(type);
  if (types.length > 0 && !types.some((each) => isOfType(value, each)))
    return [`must be ${types.join(' or ')}, not ${kindOf(value)}`];
  if (Array.isArray(values) && !values.some((each) => isEqual(each, value, check)))
    return ['is no value of its `enum`'];
  if (Object.hasOwn(schema, 'const') && !isEqual(constant, value, check))
    return ['is not its `const`'];
  if (typeof value === 'number') return numberMisfits(schema, value);
  if (typeof value === 'string') return textMisfits(schema, value, check);
  if (Array.isArray(value)) return listMisfits(schema, value, check);
  return isObject(value) ? objectMisfits(schema, value, check) : [];
}

/** The schemas of what is inside an array or object, each with its key. */
function* innerSchemas(
  schema: SchemaObject,
  value: unknown,
): Generator<[key: string | number, inner: unknown, schema: Schema]> {
  const { prefixItems, items, properties, additionalProperties, patternProperties } = schema;
  if (Array.isArray(value)) {
    const first = listOf(prefixItems);
    for (const [index, each] of value.entries())
      yield [index, each, schemaOf(index < first.length ? first[index] : items)];
  } else if (isObject(value)) {
    const named = isObject(properties) ? properties : {};
    // What `patternProperties` are about is not known here.
    const others = patternProperties === undefined ? schemaOf(additionalProperties) : true;
    for (const [key, each] of Object.entries(value))
      yield [key, each, Object.hasOwn(named, key) ? schemaOf(named[key]) : others];
  }
}

/** What is wrong inside an array or object. */
function innerMisfits(schema: SchemaObject, value: unknown, check: Check): Misfit[] {
  const misfits: Misfit[] = [];
  for (const [key, inner, held] of innerSchemas(schema, value)) {
    for (const { path, message } of misfitsOf(held, inner, check))
      misfits.push({ path: [key, ...path], message });
    if (misfits.length >= MISFITS_TOLD) break;
  }
  return misfits;
}

function choiceMisfits(
  keyword: 'anyOf' | 'oneOf',
  alternatives: readonly unknown[],
  misfits: (alternative: unknown) => Misfit[],
): Misfit[] {
  const tried = alternatives.map(misfits);
  const fitting = tried.filter(({ length }) => length === 0).length;
  // The alternative that goes deeper was meant.
  if (fitting === 0)
    return (
      tried.find(([first]) => first && first.path.length > 0) ?? [
        { path: [], message: `fits none of \`${keyword}\`` },
      ]
    );
  if (fitting === 1 || keyword === 'anyOf') return [];
  return [{ path: [], message: 'fits more than one of `oneOf`' }];
}

/** What other schemas have against the same value. */
function combinedMisfits(schema: SchemaObject, value: unknown, check: Check): Misfit[] {
  const { $ref: ref, allOf, anyOf, oneOf, not, if: condition } = schema;
  const misfits = (each: unknown) => misfitsOf(schemaOf(each), value, check);
  return [
    ...(typeof ref === 'string' ? misfits(resolveRef(check.root, ref)) : []),
    ...listOf(allOf).flatMap(misfits),
    ...(Array.isArray(anyOf) ? choiceMisfits('anyOf', anyOf, misfits) : []),
    ...(Array.isArray(oneOf) ? choiceMisfits('oneOf', oneOf, misfits) : []),
    ...(not !== undefined && misfits(not).length === 0
      ? [{ path: [], message: 'fits what `not` excludes' }]
      : []),
    ...(condition === undefined
      ? []
      : misfits(schema[misfits(condition).length === 0 ? 'then' : 'else'])),
  ];
}

function misfitsOf(schema: Schema, value: unknown, check: Check): Misfit[] {
  spend(check, 1);
  if (schema === true) return [];
  if (schema === false) return [{ path: [], message: 'must not be there' }];
  const own = ownMisfits(schema, value, check).map((message) => ({ path: [], message }));
  const misfits = own.length > 0 ? own : innerMisfits(schema, value, check);
  return [...misfits, ...combinedMisfits(schema, value, check)].slice(0, MISFITS_TOLD);
}

/** `#/days/0/place` */
const pointerOf = (path: readonly (string | number)[]): string =>
  ['#', ...path.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

/**
 * What of a value does not fit a schema of the form `schemaForm`, a sentence or a few with the place of each
 * (`#/price must be number, not string.`); undefined: it fits. Checked are the keywords of types, values, sizes,
 * properties and items, of combinations and `$ref`; not `pattern`, `format` and others, which are the model's to heed. A
 * schema that asks for more than STEPS_MAX steps, or refers to itself without end, fits nothing.
 */
export function findMisfit(schema: SchemaObject, value: unknown): string | undefined {
  try {
    const misfits = misfitsOf(schema, value, { root: schema, steps: 0 });
    if (misfits.length === 0) return undefined;
    const sentences = misfits.map(({ path, message }) => `${pointerOf(path)} ${message}.`);
    return sentences.join(' ').slice(0, MISFITS_MAX_CHARACTERS).toWellFormed();
  } catch (error) {
    // RangeError: the value is nested deeper than the stack.
    if (error instanceof OutOfSteps || error instanceof RangeError)
      return 'It takes too long to be checked.';
    throw error;
  }
}
