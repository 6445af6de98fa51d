import type { ErrorStatus } from '#shared/errors.ts';

/**
 * Where an error can come from: every route, every route with a sign-in, one that takes a body, one that
 * changes something, one with ids in its path, one with pages, one whose answer a model gives, one that streams,
 * one with the path parameter of that name, or only those whose declaration names it.
 */
type ErrorScope =
  | 'every'
  | 'user'
  | 'body'
  | 'write'
  | 'path'
  | 'paged'
  | 'answer'
  | 'stream'
  | 'declared'
  | `{${string}}`;

/**
 * Whether the same request may be sent again: `yes`, after `Retry-After` where it is given; `later`, when what is in
 * its way has passed; `no`, because it would meet the same error.
 */
export const retryAdvices = ['yes', 'later', 'no'] as const;
export type RetryAdvice = (typeof retryAdvices)[number];

export interface ErrorReasonRow {
  status: ErrorStatus;
  /** The status that the same reason has in the other of two cases: trying again helps, or is of no use. */
  otherStatus?: ErrorStatus;
  /** Where it is not the usual code of the status. */
  httpStatus?: number;
  on: ErrorScope;
  /** When it comes, and what helps. */
  meaning: string;
  /** Where it does not follow from the status: see `retryAdvice`. */
  retry?: RetryAdvice;
}
