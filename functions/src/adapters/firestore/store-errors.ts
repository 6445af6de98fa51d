import {
  AppError,
  GuardLostError,
  InvalidWriteError,
  StoreUnavailableError,
} from '#shared/errors.ts';
import { DeadlineError } from '#functions/lib/deadline.ts';

export interface StoreCall {
  operation: 'get' | 'commit' | 'query' | 'sum' | 'watch' | 'deleteBelow';
  /** The documents of the call; for `query`, `sum` and `watch` the collection. */
  paths: readonly string[];
}

/** gRPC status codes (google.rpc.Code). */
const CANCELLED = 1;
const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

/** These pass by themselves. A commit that ends so may have been applied. */
const TRANSIENT: readonly unknown[] = [
  CANCELLED,
  UNKNOWN,
  DEADLINE_EXCEEDED,
  RESOURCE_EXHAUSTED,
  ABORTED,
  INTERNAL,
  UNAVAILABLE,
];

/**
 * What a failed Firestore call means to its caller: a guard lost, a write that can never succeed, a store
 * that does not answer (also for errors of unknown kind, which the network gives), or, for missing rights,
 * a missing database and a missing index, AppError STORE_REFUSED, which only a deployment can mend.
 */
export function toStoreError(error: unknown, call: StoreCall): AppError {
  if (error instanceof AppError) return error;
  const operation = `${call.operation} of ${call.paths.slice(0, 4).join(', ')}`;
  if (error instanceof DeadlineError) return new StoreUnavailableError({ operation, cause: error });
  const code = codeOf(error);
  if (call.operation === 'commit') {
    if (isLostGuard(code, error)) return new GuardLostError({ paths: call.paths, cause: error });
    if (code === INVALID_ARGUMENT) {
      const path = call.paths.slice(0, 4).join(', ');
      return new InvalidWriteError({ path, problem: 'refused by the store', cause: error });
    }
  }
  if (code === undefined || TRANSIENT.includes(code)) {
    return new StoreUnavailableError({ operation, cause: error });
  }
  return new AppError({
    status: 'INTERNAL',
    reason: 'STORE_REFUSED',
    message: `the store refused ${operation} with code ${code}`,
    publicMessage: 'The service is not set up correctly.',
    cause: error,
  });
}

function isLostGuard(code: number | undefined, error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  if (code === ALREADY_EXISTS || code === FAILED_PRECONDITION) return true;
  // "No document to update", but also "The database (default) does not exist".
  if (code === NOT_FOUND) return !/database .* does not exist/iu.test(message);
  // Contention is ABORTED too; a lost guard names the version that it wanted.
  return code === ABORTED && /base version|precondition/iu.test(message);
}

function codeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'number' ? error.code : undefined;
}
