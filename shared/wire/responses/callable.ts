import { z } from 'zod';
import { sendMessageResponse } from './messages.ts';

/** Nothing was being answered. An object, because Firebase’s SDK for Android takes null for no end at all. */
const nothing = z.object({ turn: z.null() });

export const callableResponse = z.object({
  result: z.union([sendMessageResponse, nothing]),
});
