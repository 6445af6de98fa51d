import { isObject, resolveRef, type Schema, type SchemaObject } from './schema.ts';

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
