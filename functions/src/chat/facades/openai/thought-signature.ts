import { z } from 'zod';
import { decodeToken, encodeToken } from '#shared/wire/token.ts';

/*
 * A client that keeps its dialogue keeps the model's thought signatures, too. A model refuses a whole prompt for one of
 * another model, so they go out with the name of their model, and only its own go back to it.
 */

const tokenSchema = z.strictObject({ model: z.string(), signature: z.string() });

export const wrapSignature = (wrapped: z.infer<typeof tokenSchema>): string => encodeToken(wrapped);

/** The signature of a token for the same model; undefined for any other text. */
export function unwrapSignature(token: string, model: string): string | undefined {
  try {
    const wrapped = tokenSchema.parse(decodeToken(token));
    return wrapped.model === model ? wrapped.signature : undefined;
  } catch {
    return undefined;
  }
}
