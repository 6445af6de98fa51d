import { conversationIdSchema } from '../fields.ts';
import { sendMessageBody, sendMessageResponse } from '../resources/messages.ts';
import { toolResultsSchema } from '../resources/tool-results.ts';
import { z } from 'zod';

const { message, locale, onBusy, recallTokens, clientContext, responseSchema } =
  sendMessageBody.shape;

/** The SDKs send null for what is left out. */
const data = z
  .strictObject({
    action: z
      .enum(['chat', 'resume'])
      .nullish()
      .describe(
        'chat (default): send `message`, or `toolResults`; resume: the answer that is being given.',
      ),
    conversationId: conversationIdSchema,
    message: message.nullish(),
    toolResults: toolResultsSchema
      .nullish()
      .describe('Answers to the open calls of one turn, in the place of `message`.'),
    locale: locale.nullable(),
    onBusy: onBusy.nullable(),
    recallTokens: recallTokens.nullable(),
    clientContext: clientContext.nullable(),
    responseSchema: responseSchema.nullable(),
  })
  .refine(({ action, message: sent, toolResults }) => action === 'resume' || sent || toolResults, {
    path: ['message'],
    error: 'is missing: give the message, `toolResults`, or the action `resume`',
  })
  .refine(({ message: sent, toolResults }) => !sent || !toolResults, {
    path: ['toolResults'],
    error: 'is given together with a message: send the results first, then the message',
  });

/** What the Firebase SDKs send: https://firebase.google.com/docs/functions/callable-reference */
export const callableBody = z.strictObject({ data });
export type CallableData = z.infer<typeof data>;

/** Nothing was being answered. An object, because Firebase’s SDK for Android takes null for no end at all. */
const nothing = z.object({ turn: z.null() });

export const callableResponse = z.object({
  result: z.union([sendMessageResponse, nothing]),
});
