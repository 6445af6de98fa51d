import { z } from 'zod';
import type { Signature } from '../ports/ports.ts';

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
