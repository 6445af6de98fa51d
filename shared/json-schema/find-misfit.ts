import { canonicalJson } from '../json-text.ts';
import { isObject, isSchema, resolveRef, type Schema, type SchemaObject } from './schema.ts';

/** Steps of one check, about half a microsecond each: a client's schema may cost no more, whatever the model answers. */
const STEPS_MAX = 100_000;

/** Misfits that are told; the rest shows when these are mended. */
const MISFITS_TOLD = 3;
/** UTF-16 units of all of them: names of properties may be long. */
const MISFITS_MAX_CHARACTERS = 1_000;

class OutOfSteps extends Error {}

/** Where a value stands in the whole one. */
interface Place {
  above?: Place;
  key: string | number;
}

interface Misfit {
  place: Place;
  message: string;
}

/** Values that are looked up: arrays and objects by the JSON that says the same. */
interface ValueSet {
  plain: Set<unknown>;
  json: Set<string>;
}

/** One check of one whole value. */
interface Check {
  root: Schema;
  steps: number;
  enums: Map<readonly unknown[], ValueSet>;
  targets: Map<string, Schema>;
}

/** A value that is held against schemas. */
interface Held {
  value: unknown;
  place: Place;
  check: Check;
}

function spend(check: Check, steps: number): void {
  check.steps += steps;
  if (check.steps > STEPS_MAX) throw new OutOfSteps('a check was given up');
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const schemaOf = (value: unknown): Schema => (isSchema(value) ? value : true);
const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

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

function toValueSet(values: readonly unknown[], check: Check): ValueSet {
  spend(check, values.length);
  const plain = new Set(values.filter(isPlain));
  const json = new Set(
    values.filter((value) => !isPlain(value)).map((value) => jsonOf(value, check)),
  );
  return { plain, json };
}

function isListed(values: readonly unknown[], { value, check }: Held): boolean {
  const known = check.enums.get(values) ?? toValueSet(values, check);
  check.enums.set(values, known);
  return isPlain(value) ? known.plain.has(value) : known.json.has(jsonOf(value, check));
}

const isEqual = (a: unknown, { value: b, check }: Held): boolean =>
  isPlain(a) || isPlain(b) ? a === b : jsonOf(a, check) === jsonOf(b, check);

/** Characters, as JSON Schema counts them: code points. */
function lengthOf(text: string, check: Check): number {
  spend(check, text.length / 50);
  let pairs = 0;
  for (let i = 1; i < text.length; i++) if ((text.codePointAt(i - 1) ?? 0) > 0xff_ff) pairs++;
  return text.length - pairs;
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

function areUnique(values: readonly unknown[], check: Check): boolean {
  const { plain, json } = toValueSet(values, check);
  return plain.size + json.size === values.length;
}

function textMisfits(schema: SchemaObject, text: string, check: Check): string[] {
  if (schema['minLength'] === undefined && schema['maxLength'] === undefined) return [];
  const bounds = { min: 'minLength', max: 'maxLength', unit: 'characters' };
  return beyond(schema, lengthOf(text, check), bounds);
}

function listMisfits(schema: SchemaObject, list: readonly unknown[], check: Check): string[] {
  const isRepeated = schema['uniqueItems'] === true && !areUnique(list, check);
  return [
    ...beyond(schema, list.length, { min: 'minItems', max: 'maxItems', unit: 'items' }),
    ...(isRepeated ? ['has an item twice'] : []),
  ];
}

function objectMisfits(schema: SchemaObject, value: SchemaObject, check: Check): string[] {
  const required = listOf(schema['required']);
  const names = Object.keys(value);
  spend(check, required.length + names.length);
  const missing = required.filter((name) => !Object.hasOwn(value, String(name)));
  return [
    ...missing.slice(0, MISFITS_TOLD).map((name) => `lacks "${String(name)}"`),
    ...beyond(schema, names.length, {
      min: 'minProperties',
      max: 'maxProperties',
      unit: 'properties',
    }),
  ];
}

/** What is wrong with the value itself, whatever is inside it. */
function ownMisfits(schema: SchemaObject, held: Held): string[] {
  const { value, check } = held;
  const { type, enum: values, const: constant } = schema;
  const types = typeof type === 'string' ? [type] : listOf(type);
  if (types.length > 0 && !types.some((each) => isOfType(value, each)))
    return [`must be ${types.join(' or ')}, not ${kindOf(value)}`];
  if (Array.isArray(values) && !isListed(values, held)) return ['is no value of its `enum`'];
  if (Object.hasOwn(schema, 'const') && !isEqual(constant, held)) return ['is not its `const`'];
  if (typeof value === 'number') return numberMisfits(schema, value);
  if (typeof value === 'string') return textMisfits(schema, value, check);
  if (Array.isArray(value)) return listMisfits(schema, value, check);
  return isObject(value) ? objectMisfits(schema, value, check) : [];
}

/** What is wrong inside an array or object. */
function innerMisfits(schema: SchemaObject, { value, place, check }: Held): Misfit[] {
  const misfits: Misfit[] = [];
  const look = (inner: Schema, key: string | number, each: unknown) => {
    const held = { value: each, place: { above: place, key }, check };
    if (misfits.length < MISFITS_TOLD) misfits.push(...misfitsOf(inner, held));
  };
  const { prefixItems, items, properties, additionalProperties, patternProperties } = schema;
  if (Array.isArray(value)) {
    const first = listOf(prefixItems);
    for (const [index, each] of value.entries())
      look(schemaOf(index < first.length ? first[index] : items), index, each);
  } else if (isObject(value)) {
    const named = isObject(properties) ? properties : {};
    // What `patternProperties` are about is not known here.
    const others = patternProperties === undefined ? schemaOf(additionalProperties) : true;
    for (const [key, each] of Object.entries(value))
      look(Object.hasOwn(named, key) ? schemaOf(named[key]) : others, key, each);
  }
  return misfits;
}

function targetOf(ref: string, { root, targets }: Check): Schema {
  const target = targets.get(ref) ?? schemaOf(resolveRef(root, ref));
  targets.set(ref, target);
  return target;
}

/** What is wrong where none of several alternatives fits: the one that goes in deepest was meant. */
function alternativeMisfits(keyword: string, { place }: Held, tried: Misfit[][]): Misfit[] {
  const message = `fits none of \`${keyword}\``;
  return tried.find(([first]) => first?.place !== place) ?? [{ place, message }];
}

function choiceMisfits(keyword: 'anyOf' | 'oneOf', alternatives: unknown[], held: Held): Misfit[] {
  const tried = alternatives.map((each) => misfitsOf(schemaOf(each), held));
  const fitting = tried.filter(({ length }) => length === 0).length;
  if (fitting === 0) return alternativeMisfits(keyword, held, tried);
  if (fitting === 1 || keyword === 'anyOf') return [];
  return [{ place: held.place, message: 'fits more than one of `oneOf`' }];
}

/** What other schemas have against the same value. */
function combinedMisfits(schema: SchemaObject, held: Held): Misfit[] {
  const { place, check } = held;
  const { $ref: ref, allOf, anyOf, oneOf, not, if: condition } = schema;
  const misfits = (each: unknown) => misfitsOf(schemaOf(each), held);
  const found: Misfit[] = [];
  if (typeof ref === 'string') found.push(...misfits(targetOf(ref, check)));
  if (Array.isArray(allOf)) found.push(...allOf.flatMap(misfits));
  if (Array.isArray(anyOf)) found.push(...choiceMisfits('anyOf', anyOf, held));
  if (Array.isArray(oneOf)) found.push(...choiceMisfits('oneOf', oneOf, held));
  if (not !== undefined && misfits(not).length === 0)
    found.push({ place, message: 'fits what `not` excludes' });
  if (condition !== undefined)
    found.push(...misfits(schema[misfits(condition).length === 0 ? 'then' : 'else']));
  return found;
}

function misfitsOf(schema: Schema, held: Held): Misfit[] {
  const { place, check } = held;
  spend(check, 1);
  if (schema === true) return [];
  if (schema === false) return [{ place, message: 'must not be there' }];
  const own = ownMisfits(schema, held).map((message) => ({ place, message }));
  const misfits = own.length > 0 ? own : innerMisfits(schema, held);
  return [...misfits, ...combinedMisfits(schema, held)].slice(0, MISFITS_TOLD);
}

/** `#/days/0/place` */
const pointerOf = ({ above, key }: Place): string =>
  above === undefined
    ? String(key)
    : `${pointerOf(above)}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * What of a value does not fit a schema that `findSchemaFault` has taken, a sentence or a few with the place of each
 * (`#/price must be number, not string.`); undefined: it fits. Checked are the keywords of types, values, sizes,
 * properties and items, of combinations and `$ref`; not `pattern`, `format` and others, which are the model's to heed.
 */
export function findMisfit(schema: SchemaObject, value: unknown): string | undefined {
  const check: Check = { root: schema, steps: 0, enums: new Map(), targets: new Map() };
  try {
    const misfits = misfitsOf(schema, { value, place: { key: '#' }, check });
    if (misfits.length === 0) return undefined;
    const sentences = misfits.map(({ place, message }) => `${pointerOf(place)} ${message}.`);
    return sentences.join(' ').slice(0, MISFITS_MAX_CHARACTERS).toWellFormed();
  } catch (error) {
    // RangeError: the value is nested deeper than the stack.
    if (error instanceof OutOfSteps || error instanceof RangeError)
      return 'It takes too long to be checked.';
    throw error;
  }
}
