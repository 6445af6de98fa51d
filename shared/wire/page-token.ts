import type { z } from 'zod';
import { AppError } from '../errors.ts';

const invalidToken = (cause?: unknown) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'PAGE_TOKEN_INVALID',
    message: 'a page token could not be read',
    publicMessage:
      '`pageToken` is not one of this list. Send the `nextPageToken` of the last answer with the same parameters, or none to begin.',
    cause,
  });

/**
 * A page token: a place in a list and nothing else, as base64url JSON. It grants nothing: every list
 * is read for the caller alone, so a forged token moves only within the caller's own entries.
 * `place` holds ASCII text and numbers.
 */
export const encodePageToken = (place: Readonly<Record<string, string | number>>): string =>
  btoa(JSON.stringify(place)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** The place that a token names, or undefined without one. Throws AppError PAGE_TOKEN_INVALID. */
export function decodePageToken<T>(schema: z.ZodType<T>, token: string | undefined): T | undefined {
  if (token === undefined) return undefined;
  try {
    const json = atob(token.replaceAll('-', '+').replaceAll('_', '/'));
    return schema.parse(JSON.parse(json));
  } catch (error) {
    throw invalidToken(error);
  }
}
