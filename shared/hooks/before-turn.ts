import { z } from 'zod';
import type { Hook } from './webhook.ts';

/** UTF-16 units that one hook may add to a message. */
const HOOK_CONTEXT_MAX_CHARACTERS = 8_192;

/** UTF-16 units of what a user is told whose message is refused: some sentences. */
const DENY_MESSAGE_MAX_CHARACTERS = 500;

/** What a hook learns of a message: nothing of its text. */
export interface BeforeTurnEvent {
  conversationId: string;
  /** Of the turn that would answer it. */
  turnId: string;
  messageId: string;
  /** SHA-256 of the user's id, in hex. */
  uidHash: string;
}

const wellFormed = z
  .string()
  .refine((text) => text.isWellFormed(), 'holds half of a surrogate pair');

/** What a BeforeTurn hook may answer; fields that this version does not know are dropped. */
export const beforeTurnAnswerSchema = z.object({
  /** Said to the model before the message, and stored with it. */
  addContext: wellFormed.max(HOOK_CONTEXT_MAX_CHARACTERS).optional(),
  /** The message is refused, nothing of it is stored, and its sender reads this. */
  deny: z.object({ message: wellFormed.min(1).max(DENY_MESSAGE_MAX_CHARACTERS) }).optional(),
});
export type BeforeTurnAnswer = z.infer<typeof beforeTurnAnswerSchema>;

/** Runs before a new message is stored. */
export type BeforeTurnHook = Hook<BeforeTurnEvent, BeforeTurnAnswer | undefined>;
