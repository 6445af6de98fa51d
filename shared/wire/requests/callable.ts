import { z } from 'zod';
import { conversationIdSchema } from './ids.ts';
import { sendMessageBody } from './messages.ts';

const { message, locale, onBusy, clientContext } = sendMessageBody.shape;

/** The SDKs send null for what is left out. */
const data = z
  .strictObject({
    action: z
      .enum(['chat', 'resume'])
      .nullish()
      .describe('chat (default): send `message`; resume: the answer that is being given.'),
    conversationId: conversationIdSchema,
    message: message.nullish(),
    locale: locale.nullable(),
    onBusy: onBusy.nullable(),
    clientContext: clientContext.nullable(),
  })
  .refine(({ action, message: sent }) => action === 'resume' || sent, {
    path: ['message'],
    error: 'is missing: give the message, or the action `resume`',
  });

/** What the Firebase SDKs send: https://firebase.google.com/docs/functions/callable-reference */
export const callableBody = z.strictObject({ data });
export type CallableData = z.infer<typeof data>;
