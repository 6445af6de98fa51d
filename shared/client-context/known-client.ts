import { z } from 'zod';
import { validZone, type ClientContext } from './client-context.ts';

/**
 * What is remembered of a conversation's client: the time zone and the locale that were named last. It stands in the
 * conversation document, which every start reads and writes anyway.
 */
export const knownClientSchema = z.object({
  timeZone: z.string().optional(),
  locale: z.string().optional(),
});
export type KnownClient = z.infer<typeof knownClientSchema>;

/** What is known after a message: what it names, else what was known before; empty where nothing ever was. */
export function knownAfter(
  known: KnownClient | undefined,
  context: ClientContext | undefined,
): KnownClient {
  const named = context?.timeZone === undefined ? undefined : validZone(context.timeZone);
  const timeZone = named ?? known?.timeZone;
  const locale = context?.locale ?? known?.locale;
  return { ...(timeZone !== undefined && { timeZone }), ...(locale !== undefined && { locale }) };
}

/** Whether a message tells of its client what is not in the conversation document yet. */
export const isNews = (known: KnownClient | undefined, after: KnownClient): boolean =>
  known?.timeZone !== after.timeZone || known?.locale !== after.locale;
