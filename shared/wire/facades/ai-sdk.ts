import { z } from 'zod';
import { inputPartSchema, sendMessageBody } from '../resources/messages.ts';
import { PARTS_MAX } from '../limits.ts';

/*
 * What the transports of the AI SDK 5, 6 and 7 send. Unlike our own requests these are read tolerantly: the
 * SDK adds fields from version to version, and apps put their own beside them.
 */

/** UTF-16 units of an id that the AI SDK, or an app, draws for a chat or a message. */
const FOREIGN_ID_MAX_CHARACTERS = 256;

/** A colon would begin a verb in the address of the stream (AIP-136). */
const chatId = z
  .string()
  .min(1)
  .max(FOREIGN_ID_MAX_CHARACTERS)
  .regex(/^[^:/]+$/, 'must hold neither a colon nor a slash')
  .describe(
    'Id of the chat. A UUID of version 4 or 7 is the id of the conversation; any other one stands for a conversation of this user, after it was deleted for a new one.',
  );

const foreignMessageId = z.string().min(1).max(FOREIGN_ID_MAX_CHARACTERS);

/** The last one of the user counts, or outputs in an answer behind it; that is checked then, the rest is a copy. */
const uiMessage = z.looseObject({ role: z.string().optional() });
export type UiMessage = z.infer<typeof uiMessage>;

const { locale, onBusy, recallTokens, clientContext } = sendMessageBody.shape;

export const aiSdkChatBody = z.object({
  id: chatId,
  messages: z
    .array(uiMessage)
    .describe(
      'Only the last message of the user counts, or an answer (`m_<seq>`) behind it whose tool parts hold outputs for its open calls; the server’s own transcript is the history.',
    ),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: foreignMessageId
    .nullish()
    .describe('The message that is sent again, changed or not; or the answer to make anew.'),
  locale,
  onBusy,
  recallTokens,
  clientContext,
});
export type AiSdkChatBody = z.infer<typeof aiSdkChatBody>;

export const aiSdkChatParams = z.strictObject({ chatId });

/** A user’s message after its parts were translated; by the names that a problem is told with. */
export const translatedMessage = z.object({
  message: z.object({
    id: foreignMessageId,
    parts: z.array(inputPartSchema).min(1).max(PARTS_MAX),
  }),
});
