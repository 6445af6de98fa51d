import type { InboxEntry } from '#shared/conversation/documents/inbox.ts';
import { flag } from '../fields.ts';
import { inboxEntryResponse, inboxEntryView } from './inbox.ts';
import { z } from 'zod';

export const userEventsQuery = z.strictObject({
  cursor: z
    .string()
    .max(128)
    .optional()
    .describe(
      'The `id` of the last event that was received, as is the header `Last-Event-ID`; none: begins with what comes next.',
    ),
  once: flag.describe('true: only what was missed, up to `ready`; for a look in the background.'),
});

/** What a stream of a user's events tells. */
export const userEventResponse = z.discriminatedUnion('type', [
  z
    .object({
      type: z.literal('conversation'),
      conversation: inboxEntryResponse,
      erased: z
        .object({ count: z.number().int(), seqs: z.array(z.number().int()) })
        .optional()
        .describe(
          'Turns of which something was erased: how many in all, and the last 20. Their messages are to be read again.',
        ),
    })
    .describe('The whole row as it is now, in whichever list, the bin too.'),
  z
    .object({ type: z.literal('gone'), conversationId: z.string() })
    .describe('Nothing is left of the conversation.'),
  z
    .object({ type: z.literal('ready') })
    .describe('All that was missed has been told: what follows comes as it happens.'),
  z
    .object({ type: z.literal('reset') })
    .describe(
      'In the place of `ready`: more was missed than is told. The list is to be read again.',
    ),
  z
    .object({ type: z.literal('reconnect') })
    .describe('The stream ends here: come back with the cursor.'),
]);
export type UserEvent = z.infer<typeof userEventResponse>;

export const conversationEvent = (id: string, entry: InboxEntry): UserEvent =>
  entry.list === 'gone'
    ? { type: 'gone', conversationId: id }
    : {
        type: 'conversation',
        conversation: inboxEntryView(id, entry),
        ...(entry.erasedTurns && { erased: entry.erasedTurns }),
      };
