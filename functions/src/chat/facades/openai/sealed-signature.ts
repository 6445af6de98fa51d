import { z } from 'zod';
import { canonicalJson } from '#shared/json-text.ts';
import type { Signature, Signer } from '#shared/ports/ports.ts';
import { readToken, writeToken } from '#shared/wire/page-token.ts';

/*
 * A client that keeps its dialogue keeps the model's thought signatures, too. A model refuses a whole prompt for one
 * that it has not made, so they go out signed, and only those come back to the model that made them, from the user whose
 * dialogue they are of: thoughts stand in them.
 */

interface SignedFor {
  uid: string;
  model: string;
}

const payloadOf = ({ uid, model }: SignedFor, signature: string) =>
  canonicalJson({ purpose: 'thought signature', version: 1, uid, model, signature });

export const sealSignature = (
  signer: Pick<Signer, 'sign'>,
  { signature, ...signedFor }: SignedFor & { signature: string },
): string => writeToken(signature, signer.sign(payloadOf(signedFor, signature)));

function readSeal(token: string): { value: unknown; signature: Signature } | undefined {
  try {
    return readToken(token);
  } catch {
    return undefined;
  }
}

/** The signature of a token that was made here for the same user and model; undefined for any other text. */
export function openSignature(
  signer: Pick<Signer, 'isValid'>,
  { token, ...signedFor }: SignedFor & { token: string },
): string | undefined {
  const seal = readSeal(token);
  const signature = z.string().safeParse(seal?.value).data;
  if (!seal || signature === undefined) return undefined;
  return signer.isValid(payloadOf(signedFor, signature), seal.signature) ? signature : undefined;
}
