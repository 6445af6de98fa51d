import type { JsonSchema } from '#functions/chat/openapi/schemas.ts';
import { resolved, schemaProblems, type SchemaNames } from '#test/support/json-schema-check.ts';

type JsonObject = Record<string, unknown>;

export const isPlain = (value: unknown): value is JsonObject =>
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
  const form = choices?.find(
    (choice) => schemaProblems(value, choice, { names, path: '$' }).length === 0,
  );
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
export function breakagesOf(value: unknown, given: JsonSchema, names: SchemaNames): Breakage[] {
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
