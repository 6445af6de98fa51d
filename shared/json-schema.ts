import { canonicalJson } from './json-text.ts';

/** A JSON Schema (2020-12) that a client gave, or a schema inside it. */
type Schema = boolean | SchemaObject;
type SchemaObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSchema = (value: unknown): value is Schema => typeof value === 'boolean' || isObject(value);

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

/** Why a schema cannot be used. */
interface SchemaFault {
  /** Keys from the schema to what is wrong in it. */
  path: string[];
  /** The end of a sentence that begins with the path. */
  message: string;
}

/**
 * Schemas that one value may be held against, references followed: a definition that names the next one twice doubles
 * with each, so that forty of them are 2^40.
 */
const CHECKS_OF_ONE_VALUE_MAX = 1_000;

/** Schemas inside one: a form of 1,000 fields has as many, and 32 KiB hold 10,000 empty ones. */
const SCHEMAS_MAX = 2_000;

const TYPE_NAMES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

const isTypeName = (value: unknown) => TYPE_NAMES.some((name) => name === value);
const isText = (value: unknown) => typeof value === 'string';

/** The forms of keywords that hold no schemas. */
const forms: readonly {
  keywords: readonly string[];
  takes: (value: unknown) => boolean;
  message: string;
}[] = [
  {
    keywords: ['type'],
    takes: (value) =>
      Array.isArray(value) ? value.length > 0 && value.every(isTypeName) : isTypeName(value),
    message: `must be one of: ${TYPE_NAMES.join(', ')}, or a list of these`,
  },
  {
    keywords: ['required'],
    takes: (value) => Array.isArray(value) && value.every(isText),
    message: 'must be a list of names',
  },
  { keywords: ['enum'], takes: (value) => Array.isArray(value), message: 'must be a list' },
  {
    keywords: ['$ref'],
    takes: (value) => typeof value === 'string' && value.startsWith('#'),
    message: 'must begin with #: no other document is read',
  },
  {
    keywords: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    takes: (value) => typeof value === 'number',
    message: 'must be a number',
  },
  {
    keywords: ['multipleOf'],
    takes: (value) => typeof value === 'number' && value > 0,
    message: 'must be a number above 0',
  },
  {
    keywords: ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
    takes: (value) => typeof value === 'number' && value >= 0,
    message: 'must be a number of at least 0',
  },
  {
    keywords: ['uniqueItems'],
    takes: (value) => typeof value === 'boolean',
    message: 'must be true or false',
  },
];

/** Keywords that hold schemas: one, a list or an object of them. */
const schemaKeywords = [
  { keyword: 'allOf', holds: 'list', isOfSameValue: true },
  { keyword: 'anyOf', holds: 'list', isOfSameValue: true },
  { keyword: 'oneOf', holds: 'list', isOfSameValue: true },
  { keyword: 'not', holds: 'one', isOfSameValue: true },
  { keyword: 'if', holds: 'one', isOfSameValue: true },
  { keyword: 'then', holds: 'one', isOfSameValue: true },
  { keyword: 'else', holds: 'one', isOfSameValue: true },
  { keyword: 'items', holds: 'one', isOfSameValue: false },
  { keyword: 'prefixItems', holds: 'list', isOfSameValue: false },
  { keyword: 'properties', holds: 'names', isOfSameValue: false },
  { keyword: 'additionalProperties', holds: 'one', isOfSameValue: false },
  { keyword: '$defs', holds: 'names', isOfSameValue: false },
  { keyword: 'definitions', holds: 'names', isOfSameValue: false },
] as const;

/** The schemas that a keyword holds, by their keys in it; undefined: it does not hold them in this form. */
function schemasHeld(
  value: unknown,
  holds: (typeof schemaKeywords)[number]['holds'],
): [string[], unknown][] | undefined {
  if (holds === 'one') return [[[], value]];
  if (holds === 'list' ? !Array.isArray(value) : !isObject(value)) return undefined;
  return Object.entries(Object(value)).map(([key, each]) => [[key], each]);
}

const heldForms = {
  one: '',
  list: 'must be a list of schemas',
  names: 'must hold schemas by name',
};

function findKeywordFault(schema: SchemaObject, path: string[]): SchemaFault | undefined {
  for (const { keywords, takes, message } of forms) {
    const keyword = keywords.find((each) => Object.hasOwn(schema, each) && !takes(schema[each]));
    if (keyword !== undefined) return { path: [...path, keyword], message };
  }
  return undefined;
}

/** The first fault in the form of a schema or of one inside it; adds all of them to `schemas`. */
function findFormFault(
  schema: unknown,
  path: string[],
  schemas: Set<SchemaObject>,
): SchemaFault | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return { path, message: 'must be a schema: an object, true or false' };
  schemas.add(schema);
  if (schemas.size > SCHEMAS_MAX)
    return { path: [], message: `holds more than ${SCHEMAS_MAX} schemas; split the question` };
  const fault = findKeywordFault(schema, path);
  if (fault) return fault;
  for (const { keyword, holds } of schemaKeywords) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const held = schemasHeld(schema[keyword], holds);
    if (!held) return { path: [...path, keyword], message: heldForms[holds] };
    for (const [key, each] of held) {
      const inner = findFormFault(each, [...path, keyword, ...key], schemas);
      if (inner) return inner;
    }
  }
  return undefined;
}

/** The schemas that say more about the value that `schema` is about. */
function schemasOfSameValue(root: Schema, schema: SchemaObject): unknown[] {
  const { $ref: ref } = schema;
  return [
    ...(typeof ref === 'string' ? [resolveRef(root, ref)] : []),
    ...schemaKeywords
      .filter(({ isOfSameValue }) => isOfSameValue)
      .flatMap(({ keyword }) => schema[keyword] ?? []),
  ];
}

/** Checks of one value that each schema asks for, itself included; Infinity: it refers to itself. */
function createCheckCount(root: Schema): (schema: SchemaObject) => number {
  const counts = new Map<SchemaObject, number>();
  const count = (schema: SchemaObject): number => {
    const known = counts.get(schema);
    if (known !== undefined) return known;
    counts.set(schema, Infinity);
    let sum = 1;
    for (const each of schemasOfSameValue(root, schema)) sum += isObject(each) ? count(each) : 1;
    // Else a number that has doubled a thousand times would be as good as infinite.
    const bounded = sum === Infinity ? sum : Math.min(sum, CHECKS_OF_ONE_VALUE_MAX + 1);
    counts.set(schema, bounded);
    return bounded;
  };
  return count;
}

/**
 * Why no value can be held against a schema; undefined: one can, and no value is held against more than
 * CHECKS_OF_ONE_VALUE_MAX schemas. Takes time in proportion to the schema. Keywords that `findMisfit` does not check may
 * say anything.
 */
export function findSchemaFault(root: SchemaObject): SchemaFault | undefined {
  const schemas = new Set<SchemaObject>();
  const fault = findFormFault(root, [], schemas);
  if (fault) return fault;
  const isKnown = (target: unknown) =>
    typeof target === 'boolean' || (isObject(target) && schemas.has(target));
  for (const { $ref: ref } of schemas)
    if (typeof ref === 'string' && !isKnown(resolveRef(root, ref))) {
      const name = ref.slice(0, 256).toWellFormed();
      return { path: [], message: `refers to "${name}", which it does not define` };
    }
  const countChecks = createCheckCount(root);
  for (const schema of schemas) {
    const checks = countChecks(schema);
    if (checks === Infinity) return { path: [], message: 'refers to itself without end' };
    if (checks > CHECKS_OF_ONE_VALUE_MAX)
      return {
        path: [],
        message: `asks for more than ${CHECKS_OF_ONE_VALUE_MAX} checks of one value; use fewer alternatives and references`,
      };
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
