import { expect, test } from 'vitest';
import { DeadlineError } from '#functions/lib/deadline.ts';
import { toStoreError, type StoreCall } from '#functions/adapters/firestore.ts';
import { InvalidWriteError } from '#shared/lib/errors.ts';

function grpcError(code: number | string, message = ''): Error {
  return Object.assign(new Error(`${code} ${message}`), { code });
}

function call(operation: StoreCall['operation']): StoreCall {
  return { operation, paths: ['conversations/c1'] };
}

test.each([
  ['commit', 6, 'ALREADY_EXISTS', 'GUARD_LOST'],
  ['commit', 9, 'FAILED_PRECONDITION', 'GUARD_LOST'],
  ['commit', 5, 'NOT_FOUND: No document to update', 'GUARD_LOST'],
  ['commit', 5, 'NOT_FOUND: The database (default) does not exist for project p', 'STORE_REFUSED'],
  ['commit', 10, 'ABORTED: does not match the required base version (1)', 'GUARD_LOST'],
  ['commit', 10, 'ABORTED: Too much contention on these documents', 'STORE_UNAVAILABLE'],
  ['commit', 3, 'INVALID_ARGUMENT', 'WRITE_REFUSED'],
  ['commit', 1, 'CANCELLED', 'STORE_UNAVAILABLE'],
  ['commit', 2, 'UNKNOWN', 'STORE_UNAVAILABLE'],
  ['commit', 4, 'DEADLINE_EXCEEDED', 'STORE_UNAVAILABLE'],
  ['commit', 8, 'RESOURCE_EXHAUSTED', 'STORE_UNAVAILABLE'],
  ['commit', 13, 'INTERNAL', 'STORE_UNAVAILABLE'],
  ['commit', 14, 'UNAVAILABLE', 'STORE_UNAVAILABLE'],
  ['commit', 7, 'PERMISSION_DENIED', 'STORE_REFUSED'],
  ['commit', 16, 'UNAUTHENTICATED', 'STORE_REFUSED'],
  ['commit', 'ECONNRESET', 'read ECONNRESET', 'STORE_UNAVAILABLE'],
  ['query', 9, 'FAILED_PRECONDITION: The query requires an index', 'STORE_REFUSED'],
  ['query', 14, 'UNAVAILABLE', 'STORE_UNAVAILABLE'],
  ['get', 5, 'NOT_FOUND: The database (default) does not exist', 'STORE_REFUSED'],
  ['get', 4, 'DEADLINE_EXCEEDED', 'STORE_UNAVAILABLE'],
] as const)(
  'a Firestore call failing with %s with code %s (%s) is %s',
  (...[operation, code, message, reason]) => {
    const cause = grpcError(code, message);

    const error = toStoreError(cause, call(operation));

    expect(error.reason).toBe(reason);
    expect(error.cause).toBe(cause);
  },
);

test('a Firestore call past its deadline is a retryable STORE_UNAVAILABLE', () => {
  const cause = new DeadlineError({ operation: 'commit', deadlineMs: 5 });

  const error = toStoreError(cause, call('commit'));

  expect(error).toMatchObject({ reason: 'STORE_UNAVAILABLE', retryable: true });
});

test('a failed Firestore call keeps an AppError', () => {
  const ours = new InvalidWriteError({ path: 'a/b', problem: 'x' });

  expect(toStoreError(ours, call('commit'))).toBe(ours);
});
