import type { JsonSchema } from '#functions/chat/openapi/schemas.ts';

/** Where named schemas are found. */
export type SchemaNames = Readonly<Record<string, JsonSchema>>;

interface Place {
  names: SchemaNames;
  /** `$.error.details[0]`. */
  path: string;
}

/** What the check understands; a schema with another keyword is a mistake of the check, not of the value. */
const KNOWN = new Set([
  '$ref',
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'items',
  'minItems',
  'maxItems',
  'anyOf',
  'oneOf',
  'not',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'description',
  'examples',
  'default',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'discriminator',
]);

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

const typesOf = ({ type }: JsonSchema): string[] =>
  type === undefined ? [] : [type].flat().map(String);

function scalarProblems(value: unknown, schema: JsonSchema, path: string): string[] {
  const problems: [boolean, string][] = [];
  if (typeof value === 'string') {
    const { minLength = 0, maxLength = Infinity, pattern = '' } = schema;
    problems.push(
      [value.length < minLength || value.length > maxLength, 'length'],
      [!new RegExp(pattern, 'u').test(value), `pattern ${pattern}`],
      [schema.format === 'date-time' && Number.isNaN(Date.parse(value)), 'date-time'],
    );
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    const above = Number(schema.exclusiveMinimum ?? -Infinity);
    problems.push([value < minimum || value > maximum || value <= above, 'range']);
  }
  return problems.flatMap(([isWrong, what]) => (isWrong ? [`${path}: ${what}`] : []));
}

function objectProblems(value: JsonObject, schema: JsonSchema, place: Place): string[] {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const missing = required.filter((name) => !(name in value));
  // Replies may gain fields one day; one that the document does not name today is a mistake.
  const isOpen = additionalProperties ?? schema.properties === undefined;
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const below = { ...place, path: `${place.path}.${name}` };
    const property = properties[name] ?? isOpen;
    return [
      ...(propertyNames ? schemaProblems(name, propertyNames, below) : []),
      ...schemaProblems(each, property, below),
    ];
  });
  return [...missing.map((name) => `${place.path}.${name}: missing`), ...entries];
}

function arrayProblems(value: unknown[], schema: JsonSchema, place: Place): string[] {
  const { minItems = 0, maxItems = Infinity, items = true } = schema;
  const isLong = value.length < minItems || value.length > maxItems;
  const each = Array.isArray(items) ? true : items;
  return [
    ...(isLong ? [`${place.path}: number of entries`] : []),
    ...value.flatMap((entry, index) =>
      schemaProblems(entry, each, { ...place, path: `${place.path}[${index}]` }),
    ),
  ];
}

function choiceProblems(value: unknown, schema: JsonSchema, place: Place): string[] {
  const choices = schema.anyOf ?? schema.oneOf;
  if (!choices) return [];
  const tried = choices.map((choice) => schemaProblems(value, choice, place));
  const fitting = tried.filter((problems) => problems.length === 0).length;
  if (fitting === 1 || (fitting > 1 && schema.anyOf)) return [];
  if (fitting > 1) return [`${place.path}: more than one form`];
  const nearest = tried.toSorted((a, b) => a.length - b.length)[0] ?? [];
  return [`${place.path}: no form fits`, ...nearest];
}

/** The schema that a `$ref` names. Throws for one that is not there. */
export function resolved(schema: JsonSchema, names: SchemaNames): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const target = names[schema.$ref.replace('#/components/schemas/', '')];
  if (!target) throw new Error(`${schema.$ref} is not in the document`);
  return target;
}

/** Where a value is not what its schema says, each with its place; formats but date-time are not looked at. */
export function schemaProblems(
  value: unknown,
  schema: JsonSchema | boolean,
  place: Place,
): string[] {
  if (schema === true) return [];
  if (schema === false) return [`${place.path}: not in the document`];
  if (schema.$ref !== undefined) return schemaProblems(value, resolved(schema, place.names), place);
  const unknown = Object.keys(schema).filter((key) => !KNOWN.has(key) && !key.startsWith('x-'));
  if (unknown.length > 0) throw new Error(`the check does not know ${unknown.join(', ')}`);
  // The only use of it: `not: {}`, a field that must not be there.
  if (schema.not !== undefined) return [`${place.path}: must not be there`];
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return [`${place.path}: not ${types.join(' or ')}`];
  if (schema.enum && !schema.enum.includes(value as string)) return [`${place.path}: not of enum`];
  if (schema.const !== undefined && schema.const !== value) return [`${place.path}: not the const`];
  return [
    ...scalarProblems(value, schema, place.path),
    ...(isObject(value) ? objectProblems(value, schema, place) : []),
    ...(Array.isArray(value) ? arrayProblems(value, schema, place) : []),
    ...choiceProblems(value, schema, place),
  ];
}
