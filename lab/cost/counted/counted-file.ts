import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/** One compaction with recorded answers of a capable model. All tokens are estimated by one rule, `character-class`. */
const countedCompactionSchema = z.strictObject({
  id: z.string(),
  generation: z.number().int().positive(),
  /** What the snapshot was allowed to take: the budget, which grows with what is covered. */
  roomTokens: tokens,
  /** The folded turns, and the snapshot before, as they stood in the context. */
  foldedTokens: tokens,
  knownTokens: tokens,
  /** Repairs and condensed tool outputs included. */
  calls: z.number().int().positive(),
  /** Of all calls, and what of it is instruction and schema. */
  promptTokens: tokens,
  instructionTokens: tokens,
  outputTokens: tokens,
  snapshotTokens: tokens,
});
export type CountedCompaction = z.infer<typeof countedCompactionSchema>;

const countedFileSchema = z.strictObject({
  /** Prints the same figures, where the recordings are. */
  command: z.string(),
  profile: z.enum(['assistant', 'coding']),
  compactions: z.array(countedCompactionSchema).min(1),
  /** Tokens of each turn of the conversations: said to the model, answered by it, and so on. */
  turns: z.array(z.array(tokens).min(2)),
});
export type CountedFile = z.infer<typeof countedFileSchema>;

const folder = fileURLToPath(new URL('figures', import.meta.url));

export const countedPath = (name: string): string => `${folder}/${name}.json`;

/** Names of what was counted. */
export const countedNames = (): string[] =>
  readdirSync(folder)
    .map((file) => file.replace(/\.json$/u, ''))
    .toSorted();

/** Throws Error where nothing of that name was counted, and ZodError for what is no count. */
export const readCounted = (name: string): CountedFile =>
  countedFileSchema.parse(JSON.parse(readFileSync(countedPath(name), 'utf8')));
