import { z } from 'zod';
import type { StoredDocument } from '../ports.ts';

const messageGuardSchema = z.object({ seq: z.number().int().positive(), bodyHash: z.string() });

/** `conversations/{c}/messages/{id}`: which turn a client's message id became, for as long as the conversation lives. */
export type MessageGuard = z.infer<typeof messageGuardSchema>;

export const decodeMessageGuard = (document: StoredDocument): MessageGuard =>
  messageGuardSchema.parse(document.fields);
