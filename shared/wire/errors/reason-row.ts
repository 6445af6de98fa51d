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

export interface ErrorReasonRow {
  status: ErrorStatus;
  /** The status that the same reason has in the other of two cases: trying again helps, or is of no use. */
  otherStatus?: ErrorStatus;
  /** Where it is not the usual code of the status. */
  httpStatus?: number;
  on: ErrorScope;
  /** What it says and what helps, for the reference. */
  meaning: string;
}
