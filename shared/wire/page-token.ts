import { z } from 'zod';
import { canonicalJson } from '../json-text.ts';
import { AppError } from '../errors.ts';
import type { Signature, Signer } from '../ports/ports.ts';

/** A key id as SNAPSHOT_KEYS allows it, and base64 of a SHA-256. */
const tokenSchema = z.tuple([z.unknown(), z.string().max(64), z.string().max(64)]);

/** A value of ASCII text and numbers with its signature, as one word of letters, digits, `-` and `_`. */
export const writeToken = (value: unknown, { keyId, mac }: Signature): string =>
  btoa(JSON.stringify([value, keyId, mac]))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** What a token says and by whose signature, which nobody has looked at. Throws for what is no token. */
export function readToken(token: string): { value: unknown; signature: Signature } {
  const json = atob(token.replaceAll('-', '+').replaceAll('_', '/'));
  const [value, keyId, mac] = tokenSchema.parse(JSON.parse(json));
  return { value, signature: { keyId, mac } };
}

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

type Place = Readonly<Record<string, string | number>>;

const placeInToken = z.record(z.string(), z.union([z.string(), z.number()]));

const invalidToken = (cause?: unknown) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'PAGE_TOKEN_INVALID',
    message: 'a page token could not be read',
    publicMessage:
      '`pageToken` is not one of this list. Send the `nextPageToken` of the last answer with the same parameters, or none to begin.',
    cause,
  });

/** What is signed. The purpose keeps it apart from everything else that the same keys sign. */
const payloadOf = ({ uid, list, parameters = {} }: PageScope, place: Place) =>
  canonicalJson({ purpose: 'page', version: 1, uid, list, parameters, place });

/**
 * A page token: a place in a list, signed, so that no client can make one up and none is of use to another
 * caller or in another list. `place` holds ASCII text and numbers.
 */
export function encodePageToken(
  signer: Pick<Signer, 'sign'>,
  scope: PageScope,
  place: Place,
): string {
  return writeToken(place, signer.sign(payloadOf(scope, place)));
}

function readPlace(token: string): { place: Place; signature: Signature } {
  try {
    const { value, signature } = readToken(token);
    return { place: placeInToken.parse(value), signature };
  } catch (error) {
    throw invalidToken(error);
  }
}

/**
 * The place that a token names, or undefined without one. Throws AppError PAGE_TOKEN_INVALID (400) for one
 * that was forged or altered, and for one of another caller, list or set of parameters.
 */
export function decodePageToken<T>(
  signer: Pick<Signer, 'isValid'>,
  scope: PageScope,
  input: { schema: z.ZodType<T>; token: string | undefined },
): T | undefined {
  if (input.token === undefined) return undefined;
  const { place, signature } = readPlace(input.token);
  if (!signer.isValid(payloadOf(scope, place), signature)) throw invalidToken();
  const read = input.schema.safeParse(place);
  if (!read.success) throw invalidToken(read.error);
  return read.data;
}
