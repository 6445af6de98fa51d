import { z } from 'zod';

/**
 * What a turn's surroundings told of the app's context: so that the next turn need say only what is different. Read
 * from the turns that are in the context anyway, so what is known to have been told is what the model still sees.
 */
export const toldSchema = z.object({
  /** Of the conversation when it was told; a swap makes it be told in full again. */
  generation: z.number().int().nonnegative(),
  /** Of the user's clock from UTC at that moment; absent: no zone was named. */
  offsetMinutes: z.number().optional(),
  /** All was told, not what is different from the turn before. */
  isFull: z.boolean(),
  /** Digests of the lines, by their names; without one, it was told that the value is gone. */
  lines: z.array(z.object({ name: z.string(), digest: z.string().optional() })),
});
export type Told = z.infer<typeof toldSchema>;

interface TellingTurn {
  inContext: boolean;
  told?: Told | undefined;
}

/**
 * The digests of what the turns of a context have told in a generation, the newest of each name; undefined where
 * nothing was told in full, or the turn that did is gone.
 */
export function standingLines(
  turns: readonly TellingTurn[],
  generation: number,
): ReadonlyMap<string, string> | undefined {
  let standing: Map<string, string> | undefined;
  for (const { inContext, told } of turns) {
    if (!inContext || told?.generation !== generation) continue;
    if (told.isFull) standing = new Map();
    for (const { name, digest } of told.lines)
      if (digest === undefined) standing?.delete(name);
      else standing?.set(name, digest);
  }
  return standing;
}
