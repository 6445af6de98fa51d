import type { z } from 'zod';
import { safeParse } from '#shared/safe-parse.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What can be read of a document, or of what a model sent. */
interface ReadFields<Value> {
  /** Undefined: what cannot be read is needed, and nothing stands in for it. */
  value: Value | undefined;
  /** What is wrong by its field, never what it says: `usage.promptTokens (too_big)`. */
  problems: Map<string, string>;
}

/**
 * Reads the fields that `schema` knows. One that cannot be read is left out, or `substitute` says what is read in its
 * place, so that one wrong figure does not take everything with it.
 */
export function readFields<Value>(
  schema: z.ZodType<Value>,
  fields: Fields,
  substitute: object = {},
): ReadFields<Value> {
  const whole = safeParse(schema, fields);
  const problems = new Map<string, string>();
  if (whole.success) return { value: whole.data, problems };
  for (const { path, code } of whole.error.issues)
    problems.set(String(path[0]), `${path.join('.')} (${code})`);
  const right = Object.entries(fields).filter(([name]) => !problems.has(name));
  const standing = Object.entries(substitute).filter(([name]) => problems.has(name));
  const { data } = safeParse(schema, Object.fromEntries([...right, ...standing]));
  return { value: data, problems };
}

/** The same where something stands in for every field that is needed. */
export function readWhole<Value extends object>(
  schema: z.ZodType<Value>,
  fields: Fields,
  substitute: Value,
): { value: Value; problems?: Map<string, string> } {
  const { value = substitute, problems } = readFields(schema, fields, substitute);
  return { value, ...(problems.size > 0 && { problems }) };
}

/** Problems as one line of a log, or of what an operator reads. */
export const problemText = (problems: ReadonlyMap<string, string>): string =>
  [...problems.values()].join(', ');
