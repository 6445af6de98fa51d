import { z } from 'zod';
import { conversationResponse } from './conversations.ts';
import { memoryNoteResponse } from './memories.ts';
import { messageResponse } from './messages.ts';
import { pinResponse } from './pins.ts';
import { uploadResponse } from './uploads.ts';

/** What is on its way to be erased. */
export const erasingResponse = z.object({ conversations: z.number().int() });
export const deleteConversationResponse = z.union([conversationResponse, erasingResponse]);

/**
 * A line of an export as JSON: a conversation, then its messages in order; of a user, the notes about them and
 * their uploads first.
 */
export const exportLineResponse = z.discriminatedUnion('type', [
  memoryNoteResponse.extend({ type: z.literal('memory') }),
  conversationResponse.extend({
    type: z.literal('conversation'),
    pins: z.array(pinResponse).optional(),
  }),
  messageResponse.extend({
    type: z.literal('message'),
    conversationId: z.string(),
    fate: z
      .enum([
        'answered',
        'unanswered',
        'failed',
        'cancelled',
        'filtered',
        'deleted',
        'answerDeleted',
        'replaced',
      ])
      .describe('What became of the message’s turn.'),
  }),
  uploadResponse.extend({ type: z.literal('upload') }),
  z
    .object({ type: z.literal('unreadable'), conversationId: z.string() })
    .describe('A conversation of which nothing can be read any more.'),
]);
export type ExportLine = z.infer<typeof exportLineResponse>;
