import { z } from 'zod';
import { tokens } from './fields.ts';

export const pinResponse = z.object({
  id: z.string(),
  text: z.string(),
  source: z.enum(['api', 'hook', 'detected']),
  seq: z.number().int().optional().describe('The turn whose user text it keeps.'),
});
export type PinView = z.infer<typeof pinResponse>;

export const pinListResponse = z.object({
  pins: z.array(pinResponse),
  tokens: tokens.describe('Of all pins together, estimated.'),
  budgetTokens: tokens.describe('What all pins together may take.'),
});
export type PinListView = z.infer<typeof pinListResponse>;
