import { z } from 'zod';
import type { StoredDocument } from '#shared/ports/ports.ts';

export const messageGuardSchema = z.object({
  seq: z.number().int().positive(),
  bodyHash: z.string(),
});

/** `conversations/{c}/messages/{id}`: which turn a client's message id became, for as long as the conversation lives. */
export type MessageGuard = z.infer<typeof messageGuardSchema>;

/** Names no turn, and has the hash of no body: the id is taken. */
const substitute: MessageGuard = { seq: Number.MAX_SAFE_INTEGER, bodyHash: '' };

/** Reads a guard; one that cannot be read says that the id is another message's. */
export const decodeMessageGuard = ({ fields }: StoredDocument): MessageGuard =>
  messageGuardSchema.safeParse(fields).data ?? substitute;
