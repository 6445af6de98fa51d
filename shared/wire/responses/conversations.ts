import { z } from 'zod';
import { clientToolSchema } from '#shared/conversation/documents/declared-tools.ts';
import { conversationSettingsSchema } from '#shared/conversation/documents/head.ts';
import { profileSchema } from '#shared/conversation/documents/snapshot.ts';
import { contextObjectResponse } from './context-object.ts';
import { time } from './fields.ts';

export const conversationResponse = z.object({
  id: z.string(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  profile: profileSchema,
  model: z.string(),
  tools: z
    .array(clientToolSchema)
    .optional()
    .describe('Functions that the app runs for the model.'),
  settings: conversationSettingsSchema,
  createTime: time,
  updateTime: time,
  generation: z.number().int(),
  lastSeq: z.number().int().describe('Number of turns so far.'),
  deleteTime: time.optional().describe('Since when it is in the bin.'),
  purgeTime: time.optional().describe('When it is erased for good unless it is taken back.'),
  forkedFrom: z
    .object({ conversationId: z.string(), seq: z.number().int() })
    .optional()
    .describe('The conversation and the turn up to which it was copied.'),
});
export type ConversationView = z.infer<typeof conversationResponse>;

export const conversationWithContextResponse = conversationResponse.extend({
  context: contextObjectResponse,
});

export const conversationListResponse = z.object({
  conversations: z.array(conversationResponse),
  nextPageToken: z.string().optional(),
});
