import { decodeToken, encodeToken } from '#shared/store/page-token.ts';
import { canonicalJson } from '#shared/lib/json-text.ts';
import type { Signer } from '#shared/ports/ports.ts';
import { z } from 'zod';

/** How long a hook's token serves: a backup need not end within the hook's own ten seconds. */
const READ_TOKEN_MS = 15 * 60_000;

/** Longer ones are no tokens of ours. */
const READ_TOKEN_MAX_CHARACTERS = 1_000;

/** The turns that one compaction folds, of one conversation. */
const foldedRangeSchema = z.strictObject({
  /** Of the conversation: its id may come back, with another owner. */
  epoch: z.string(),
  /** At which the compaction began. */
  generation: z.int(),
  /** First and last turn. */
  from: z.int(),
  upTo: z.int(),
});
export type FoldedRange = z.infer<typeof foldedRangeSchema>;

const claimsSchema = foldedRangeSchema.extend({ expireTime: z.iso.datetime() });
type Claims = z.infer<typeof claimsSchema>;

/** What is open, and the signature of that. */
const tokenSchema = z.tuple([claimsSchema, z.string()]);

/** What a hook reads the folded turns with: GET `path` of the chat function, `token` in X-Recap-Read-Token. */
export interface FoldedTurnsAccess {
  path: string;
  token: string;
  /** RFC 3339; from then on the token is refused. */
  expireTime: string;
}

/** What is signed. The purpose keeps it apart from everything else that the same key signs. */
const payloadOf = (conversationId: string, claims: Claims) =>
  canonicalJson({ purpose: 'foldedTurns', version: 1, conversationId, ...claims });

/** Access to exactly one range of turns, for `READ_TOKEN_MS`. */
export function foldedTurnsAccess(
  signer: Pick<Signer, 'sign'>,
  target: { conversationId: string; range: FoldedRange },
  now: Date,
): FoldedTurnsAccess {
  const expireTime = new Date(now.getTime() + READ_TOKEN_MS).toISOString();
  const claims = { ...target.range, expireTime };
  const { conversationId } = target;
  return {
    path: `/v1/conversations/${conversationId}/foldedTurns`,
    token: encodeToken([claims, signer.sign(payloadOf(conversationId, claims))]),
    expireTime,
  };
}

/** The range that a token opens; undefined for one that is forged, altered, expired or of another conversation. */
export function openedRange(
  signer: Pick<Signer, 'isValid'>,
  target: { conversationId: string; token: string },
  now: Date,
): FoldedRange | undefined {
  if (target.token.length > READ_TOKEN_MAX_CHARACTERS) return undefined;
  try {
    const [claims, signature] = tokenSchema.parse(decodeToken(target.token));
    const { expireTime, ...range } = claims;
    const isSigned = signer.isValid(payloadOf(target.conversationId, claims), signature);
    return isSigned && now < new Date(expireTime) ? range : undefined;
  } catch {
    return undefined;
  }
}
