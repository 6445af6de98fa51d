import { runInNewContext } from 'node:vm';
import { once } from '#shared/once.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A schema of a client may be slow on purpose: a pattern that backtracks, alternatives that double. */
const CHECK_TIMEOUT_MS = 200;

const loadValidator = once(async () => (await import('@cfworker/json-schema')).Validator);

/** Runs what cannot be interrupted otherwise. Throws as `work` does, and when it takes too long. */
const withinTime = <T>(work: () => T): T =>
  runInNewContext('work()', { work }, { timeout: CHECK_TIMEOUT_MS });

const messageOf = (error: unknown): string =>
  error instanceof Error && !(error instanceof RangeError)
    ? error.message
    : 'refers to itself without end';

/** How the validator says which `$ref` leads nowhere; the rest of its words is about itself. */
const UNRESOLVED = /^Unresolved \$ref "([^"]{0,256})"/;

/** Why a schema cannot be used, as the end of a sentence. */
function faultMessage(error: unknown): string {
  const message = messageOf(error);
  const ref = UNRESOLVED.exec(message)?.[1];
  if (ref === undefined) return `is no JSON Schema that can be checked: ${message}`;
  return `refers to "${ref}", which it does not define`;
}

/** The error is one of another context, so it is no instance of this one's `Error`. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** Why no value can be held against a schema (2020-12), as the end of a sentence; undefined: one can. */
export async function schemaFault(schema: Schema): Promise<string | undefined> {
  const Validator = await loadValidator();
  try {
    withinTime(() => new Validator(schema, '2020-12').validate(null));
    return undefined;
  } catch (error) {
    if (isTimeout(error)) return 'takes too long to be checked; make it simpler';
    return faultMessage(error);
  }
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Faults that are told; the rest shows when these are mended. */
const FAULTS_TOLD = 3;

/** What only says that something below it does not fit. */
const OUTER_KEYWORDS = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf', 'false']);

/**
 * What of a JSON text does not fit a schema, a sentence or a few with the place of each (`#/price`); undefined:
 * it fits.
 */
export async function findMisfit(schema: Schema, text: string): Promise<string | undefined> {
  const json = parsed(text);
  if (!json) return 'It is not JSON.';
  const Validator = await loadValidator();
  try {
    const { valid, errors } = withinTime(() =>
      new Validator(schema, '2020-12', false).validate(json.value),
    );
    if (valid) return undefined;
    const inner = errors.filter(({ keyword }) => !OUTER_KEYWORDS.has(keyword));
    return (inner.length > 0 ? inner : errors)
      .slice(0, FAULTS_TOLD)
      .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
      .join(' ');
  } catch (error) {
    return isTimeout(error) ? 'It takes too long to be checked.' : `It ${messageOf(error)}.`;
  }
}
