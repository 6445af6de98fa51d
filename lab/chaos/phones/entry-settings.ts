import { z } from 'zod';
import { protections } from '../chaos-arguments.ts';

/** What a function process of a chaos run is started with, as JSON on its command line. */
export const entrySettingsSchema = z.strictObject({
  /** Another one for each start: a process must not repeat what its predecessor drew. */
  seed: z.string(),
  broken: z.enum(protections).optional(),
  startedAtMs: z.number(),
  timeScale: z.number().positive(),
  /** By how much the clock of its machine is wrong. */
  skewMs: z.number(),
  /** Share of the events for the workers that never reach the bus. */
  lostPublishShare: z.number().min(0).max(1),
  /** Share of the swaps whose worker stands still between its last look and its commit. */
  pausedSwapShare: z.number().min(0).max(1),
});
export type EntrySettings = z.infer<typeof entrySettingsSchema>;

/** What a function process tells the run over its channel. */
export const entryMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('fault'), name: z.string() }),
  z.object({
    kind: z.literal('generation'),
    conversationId: z.string(),
    generation: z.number(),
    by: z.string(),
  }),
]);
export type EntryMessage = z.infer<typeof entryMessageSchema>;
