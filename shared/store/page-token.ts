import { AppError } from '#shared/lib/errors.ts';
import { canonicalJson } from '#shared/lib/json-text.ts';
import type { Sha256 } from '#shared/ports/ports.ts';
import { z } from 'zod';

/** A value of JSON with ASCII text as one word of letters, digits, `-` and `_`. */
export const encodeToken = (value: unknown): string =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** What a token says. Anybody may have written it. Throws for what is no token. */
export const decodeToken = (token: string): unknown =>
  JSON.parse(atob(token.replaceAll('-', '+').replaceAll('_', '/')));

/**
 * Where a token is good: for one caller, in one list, with the same parameters. The size of a page is none
 * of them, a caller may change it from page to page (AIP-158).
 */
export interface PageScope {
  uid: string;
  /** Name of the list, the conversation and whatever else decides what is in it and in which order. */
  list: string;
  parameters?: Readonly<Record<string, string | number | boolean>>;
}

type ListPlace = Readonly<Record<string, string | number>>;

/** Characters of the hash of a scope: enough to tell the lists of one caller apart. */
const SCOPE_CHARACTERS = 16;

const tokenSchema = z.tuple([z.string(), z.record(z.string(), z.union([z.string(), z.number()]))]);

const invalidToken = (cause?: unknown) =>
  new AppError({
    reason: 'PAGE_TOKEN_INVALID',
    publicMessage:
      '`pageToken` is not one of this list. Send the `nextPageToken` of the last answer with the same parameters, or none to begin.',
    cause,
  });

const hashOf = (sha256: Sha256, { uid, list, parameters = {} }: PageScope) =>
  sha256(canonicalJson({ uid, list, parameters })).slice(0, SCOPE_CHARACTERS);

/**
 * A page token: a place in a list, and which list. It is not signed: a caller who makes one up begins elsewhere in a
 * list of their own. `place` holds ASCII text and numbers.
 */
export const encodePageToken = (sha256: Sha256, scope: PageScope, place: ListPlace): string =>
  encodeToken([hashOf(sha256, scope), place]);

function readToken(token: string): z.infer<typeof tokenSchema> {
  try {
    return tokenSchema.parse(decodeToken(token));
  } catch (error) {
    throw invalidToken(error);
  }
}

/**
 * The place that a token names, or undefined without one. Throws AppError PAGE_TOKEN_INVALID (400) for what is no
 * token, and for one of another caller, list or set of parameters.
 */
export function decodePageToken<T>(
  sha256: Sha256,
  scope: PageScope,
  input: { schema: z.ZodType<T>; token: string | undefined },
): T | undefined {
  if (input.token === undefined) return undefined;
  const [hash, place] = readToken(input.token);
  if (hash !== hashOf(sha256, scope)) throw invalidToken();
  const read = input.schema.safeParse(place);
  if (!read.success) throw invalidToken(read.error);
  return read.data;
}
