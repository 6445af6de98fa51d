import { deserialize, serialize } from 'node:v8';
import {
  AppError,
  type AppErrorOptions,
  GuardLostError,
  InvalidWriteError,
  StoreUnavailableError,
} from '#shared/errors.ts';
import type { DocumentStore, EventPublisher, StoredDocument, Write } from '#shared/ports/ports.ts';

/*
 * How processes of one machine share a store and a bus in memory: a POST for each operation, its body and its answer
 * in V8's own form, which keeps dates and absent fields as they are. Only processes of one stack, of one version,
 * speak it.
 */

/** An operation with its arguments. */
export type StoreCall =
  | { name: 'get'; paths: readonly string[] }
  | { name: 'commit'; writes: readonly Write[] }
  | { name: 'query'; query: Parameters<DocumentStore['query']>[0] }
  | { name: 'sum'; collection: string; field: string }
  | { name: 'watch'; collection: string }
  | { name: 'deleteBelow'; path: string }
  | { name: 'publish'; event: Parameters<EventPublisher['publish']>[0] };

interface SentError extends AppErrorOptions {
  name: string;
}

type StoreAnswer = { value: unknown } | { error: SentError };

export const encode = (value: StoreCall | StoreAnswer | StoredDocument[]): Buffer =>
  serialize(value);

// What comes was sent by this file: a token tells strangers apart before a byte is read.
export const decodeCall = (bytes: Uint8Array): StoreCall => deserialize(bytes);
export const decodeAnswer = (bytes: Uint8Array): StoreAnswer => deserialize(bytes);
export const decodeDocuments = (bytes: Uint8Array): StoredDocument[] => deserialize(bytes);

/** An error as it travels; what is no AppError is a defect of the store and told by its message. */
export function sentError(error: unknown): SentError {
  if (!(error instanceof AppError)) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      name: 'AppError',
      status: 'INTERNAL',
      reason: 'INTERNAL',
      message,
      publicMessage: 'Something went wrong.',
    };
  }
  const { name, status, reason, message, publicMessage, retryable, metadata } = error;
  return {
    name,
    status,
    reason,
    message,
    publicMessage,
    retryable,
    metadata,
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}

/** The error that was thrown there, of the same class. */
export function receivedError(call: StoreCall, error: SentError): AppError {
  const cause = new AppError(error);
  const paths = call.name === 'commit' ? call.writes.map(({ path }) => path) : [];
  switch (error.name) {
    case 'GuardLostError':
      return new GuardLostError({ paths, cause });
    case 'StoreUnavailableError':
      return new StoreUnavailableError({ operation: call.name, cause });
    case 'InvalidWriteError':
      return new InvalidWriteError({ path: paths[0] ?? '', problem: error.message, cause });
    default:
      return cause;
  }
}
