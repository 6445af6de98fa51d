import type { Pin } from '#shared/conversation/documents/conversation.ts';
import { conversationIdSchema, tokens, wellFormedText } from '../fields.ts';
import { z } from 'zod';

/** Long enough for a UUID or a speaking name. Also held by what hooks return. */
export const pinIdSchema = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, - and _')
  .describe('The client’s id of a pin. Another text under the same id takes its place.');

export const pinParams = z.strictObject({
  conversationId: conversationIdSchema,
  pinId: pinIdSchema,
});

/** Its length is bounded by the budget of all pins of the conversation. */
export const pinTextSchema = wellFormedText.regex(/\S/, 'must not be blank');

export const putPinBody = z.strictObject({ text: pinTextSchema });

export const pinResponse = z.object({
  id: z.string(),
  text: z.string(),
  source: z.enum(['api', 'hook', 'detected']),
  seq: z.number().int().optional().describe('The turn whose user text it keeps.'),
});
type PinView = z.infer<typeof pinResponse>;

export const pinListResponse = z.object({
  pins: z.array(pinResponse),
  tokens: tokens.describe('Of all pins together, estimated.'),
  budgetTokens: tokens.describe('What all pins together may take.'),
});
export type PinListView = z.infer<typeof pinListResponse>;

export const pinView = ({ id, text, source, seq }: Pin): PinView => ({
  id,
  text,
  source,
  ...(seq !== undefined && { seq }),
});
