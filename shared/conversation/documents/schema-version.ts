import { AppError } from '#shared/errors.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';

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
 * A document that a later release has written, met by an instance of an earlier one: during a deployment, or after
 * it was taken back. Nothing is wrong with the document, so it is neither a defect nor a break-in, and nobody here
 * may change it.
 */
export class NewerDocumentError extends AppError {
  readonly path: string;
  /** As it stands in the document. */
  readonly schemaVersion: number;
  /** Of a conversation document: nobody else may learn that it is there. */
  readonly ownerUid: string | undefined;

  constructor({ path, schemaVersion, ownerUid }: NewerDocument) {
    super({
      status: 'UNAVAILABLE',
      reason: 'STORED_BY_NEWER_VERSION',
      message: `${path} has schemaVersion ${schemaVersion}, this release reads up to ${SCHEMA_VERSION}: deploy the release that wrote it, or a later one`,
      publicMessage: `The conversation was stored by a later version of this service (schema ${schemaVersion}) than the one that answers (schema ${SCHEMA_VERSION}). Try again in half a minute; if it stays so, the service has to be upgraded again. Nothing is lost.`,
      retryable: true,
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
