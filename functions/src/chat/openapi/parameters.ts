import type { Route } from '../route.ts';
import { inputSchema, type JsonSchema } from './schemas.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

const DIGITS = /^\^\\d\{1,(\d+)\}\$$/;
const FROM_ONE = /^\^\[1-9\]\\d\{0,(\d+)\}\$$/;

const largest = (digits: string, more: number) => 10 ** (Number(digits) + more) - 1;

/**
 * Every parameter comes as a text. One of digits alone is a whole number to whoever writes it, and one that
 * is `true` or `false` a boolean.
 */
function asWritten(schema: JsonSchema): JsonSchema {
  const { pattern = '', type: _, pattern: __, enum: values, default: preset, ...rest } = schema;
  const digits = DIGITS.exec(pattern)?.[1];
  if (digits !== undefined)
    return { ...rest, type: 'integer', minimum: 0, maximum: largest(digits, 0) };
  const fromOne = FROM_ONE.exec(pattern)?.[1];
  if (fromOne !== undefined)
    return { ...rest, type: 'integer', minimum: 1, maximum: largest(fromOne, 1) };
  if (values?.length === 2 && values.includes('true') && values.includes('false'))
    return {
      ...rest,
      type: 'boolean',
      ...(preset !== undefined && { default: preset === 'true' }),
    };
  return schema;
}

function parametersOf(schema: JsonSchema, place: 'path' | 'query'): Parameter[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = typeof property === 'boolean' ? {} : property;
    return {
      name,
      in: place,
      required: place === 'path' || (schema.required ?? []).includes(name),
      ...(description !== undefined && { description }),
      schema: asWritten(rest),
    };
  });
}

const header = (name: string, description: string, words?: readonly string[]): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...(words && { enum: [...words] }) },
});

/** What clients of EventSource send by themselves, where a route takes it in the query, too. */
const LAST_EVENT_ID = header(
  'Last-Event-ID',
  'Continues a stream after this event, a whole number, as EventSource clients do by themselves; empty is none, and `startingAfter` goes before it.',
);

/** Path, query and header parameters of a route. */
export function parametersOfRoute(route: Route): Parameter[] {
  const query = parametersOf(inputSchema(route.query), 'query');
  return [
    ...parametersOf(inputSchema(route.params), 'path'),
    ...query,
    ...(query.some(({ name }) => name === 'startingAfter') ? [LAST_EVENT_ID] : []),
    ...Object.entries(route.requestHeaders ?? {}).map(([name, told]) =>
      typeof told === 'string' ? header(name, told) : header(name, told.description, told.enum),
    ),
  ];
}
