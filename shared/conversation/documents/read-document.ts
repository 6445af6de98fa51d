import { AppError } from '#shared/lib/errors.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { safeParse } from '#shared/lib/safe-parse.ts';
import type { z } from 'zod';

/** Of every document of a conversation that this version writes, and the newest that it reads. */
export const SCHEMA_VERSION = 1;

/** While a release replaces another, the next request likely meets an instance of the new one. */
const RETRY_AFTER_MS = 30_000;

interface NewerDocument {
  path: string;
  schemaVersion: number;
  ownerUid?: string | undefined;
}

/**
 * A document that a later release has written, met by an instance of an earlier one: during a deployment, or after it
 * was taken back. Nothing is wrong with the document, so it is neither a defect nor a break-in, and this instance may
 * not change it.
 */
export class NewerDocumentError extends AppError {
  readonly path: string;
  /** As it stands in the document. */
  readonly schemaVersion: number;
  /** Of a conversation document: no other user may learn that it is there. */
  readonly ownerUid: string | undefined;

  constructor({ path, schemaVersion, ownerUid }: NewerDocument) {
    super({
      reason: 'STORED_BY_NEWER_VERSION',
      message: `${path} has schemaVersion ${schemaVersion}, this release reads up to ${SCHEMA_VERSION}: deploy the release that wrote it, or a later one`,
      publicMessage: `The conversation was stored by a later version of this service (schema ${schemaVersion}) than the one that answers (schema ${SCHEMA_VERSION}). Try again in half a minute; if it stays so, the service has to be upgraded again. Nothing is lost.`,
      retryAfterMs: RETRY_AFTER_MS,
      metadata: { stored: String(schemaVersion), known: String(SCHEMA_VERSION) },
    });
    this.path = path;
    this.schemaVersion = schemaVersion;
    this.ownerUid = ownerUid;
  }
}

/** Throws NewerDocumentError for a document of a later schema version; what else is wrong is the schema's to find. */
export function refuseNewer({ path, fields }: Pick<StoredDocument, 'path' | 'fields'>): void {
  const { schemaVersion, ownerUid } = fields;
  // What is no version at all is the schema's to find.
  if (typeof schemaVersion !== 'number' || !Number.isInteger(schemaVersion)) return;
  if (schemaVersion <= SCHEMA_VERSION) return;
  throw new NewerDocumentError({
    path,
    schemaVersion,
    ownerUid: typeof ownerUid === 'string' ? ownerUid : undefined,
  });
}

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

/** What a JSON text says, or `substitute` and why it does not. */
export function readJsonText<Value>(
  schema: z.ZodType<Value>,
  { text, field }: { text: string; field: string },
  substitute: Value,
): { value: Value; problem?: string } {
  try {
    const { data, error } = safeParse<Value>(schema, JSON.parse(text));
    if (!error) return { value: data };
    const [issue] = error.issues;
    return { value: substitute, problem: `${field} (${issue?.path.join('.')} ${issue?.code})` };
  } catch {
    return { value: substitute, problem: `${field} (no JSON)` };
  }
}

/** What is wrong with some of the fields of a document, as one line; undefined: nothing. */
export function problemsOfFields(
  problems: ReadonlyMap<string, string> | undefined,
  fields: readonly string[],
): string | undefined {
  const texts = fields.flatMap((field) => problems?.get(field) ?? []);
  return texts.length === 0 ? undefined : texts.join(', ');
}
