import { z } from 'zod';
import type { StoredDocument } from '../ports/ports.ts';

const chatNameSchema = z.object({
  schemaVersion: z.literal(1),
  conversationId: z.string(),
  updateTime: z.date(),
});

/** `users/{uid}/chatNames/{hash}`: the conversation that a chat of an AI SDK is, where its id is no UUID. */
export type ChatName = z.infer<typeof chatNameSchema>;

/** Throws ZodError for a shape that this version does not know. */
export const decodeChatName = ({ fields }: StoredDocument): ChatName =>
  chatNameSchema.parse(fields);
