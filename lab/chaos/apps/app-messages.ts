import { z } from 'zod';

/** What the process of an app is started with, as JSON on its command line. */
export const appSettingsSchema = z.strictObject({
  chatUrl: z.string(),
  token: z.string(),
  /** Of its store: the next process of the same app has it too. */
  folder: z.string(),
  /** How much faster than real time the clock of the service runs: it divides what Retry-After asks for. */
  timeScale: z.number().positive(),
  conversationIds: z.array(z.string()),
});
export type AppSettings = z.infer<typeof appSettingsSchema>;

/** What the user does. */
export const appCommandSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('send'),
    conversationId: z.string(),
    /** The id that the package draws for it. */
    messageId: z.string(),
    text: z.string(),
    onBusy: z.enum(['queue', 'interrupt']),
  }),
  z.object({ kind: z.literal('stop'), conversationId: z.string() }),
  z.object({ kind: z.literal('setActive'), isActive: z.boolean() }),
  z.object({ kind: z.literal('show') }),
]);
export type AppCommand = z.infer<typeof appCommandSchema>;

/** A message as the app shows it, with its answer. */
const shownMessageSchema = z.object({
  conversationId: z.string(),
  messageId: z.string(),
  state: z.string(),
  seq: z.number().optional(),
  answer: z.object({ state: z.string(), text: z.string() }).optional(),
  reason: z.string().optional(),
});
export type ShownMessage = z.infer<typeof shownMessageSchema>;

/** What the process tells. */
export const appReportSchema = z.discriminatedUnion('kind', [
  /** It takes commands. */
  z.object({ kind: z.literal('ready') }),
  /** `send` has resolved: the message is kept, whatever happens to the process. */
  z.object({ kind: z.literal('kept'), messageId: z.string() }),
  z.object({ kind: z.literal('shown'), messages: z.array(shownMessageSchema) }),
]);
export type AppReport = z.infer<typeof appReportSchema>;
