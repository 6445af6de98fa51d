import { z } from 'zod';
import { budgetShardPath } from '#shared/conversation/documents/paths.ts';
import type { StoredDocument, Write } from '#shared/ports/ports.ts';
import {
  heldAt,
  heldBesideLargest,
  type HeldCost,
  heldSchema,
  sumOfCosts,
  usageExpiry,
} from '#shared/quota/usage.ts';
import { BUDGET_SHARDS } from './quota-settings.ts';

/** What cannot be read has cost nothing: one shard of many shall not keep everybody out. */
const shardSchema = z.object({
  costMicros: z.number().nonnegative().max(1e15).catch(0),
  /** Calls on their way that are no messages. */
  held: z.array(heldSchema).catch([]),
});

/** `budget/{day}/shards/{n}`: a part of what all users together have cost on a day, and hold. */
type BudgetShard = z.infer<typeof shardSchema>;

/** The documents of a day's shards. */
export const shardPaths = (day: string): string[] =>
  Array.from({ length: BUDGET_SHARDS }, (_, n) => budgetShardPath(day, n));

const decodeShard = (document: StoredDocument | undefined): BudgetShard =>
  document ? shardSchema.parse(document.fields) : { costMicros: 0, held: [] };

/** What all shards together say, millionths of a dollar. */
export function sumOfShards(documents: readonly (StoredDocument | undefined)[], now: Date) {
  const shards = documents.map(decodeShard);
  const held = shards.flatMap((shard) => heldAt(shard.held, now));
  return {
    usedMicros: sumOfCosts(shards),
    heldMicros: sumOfCosts(held),
    heldBesideLargestMicros: heldBesideLargest(held),
  };
}

/** What becomes of a shard, under the update time of the document that was read. */
interface ShardChange {
  addMicros?: number;
  hold?: HeldCost;
  /** Id of a call that holds nothing any more. */
  release?: string;
}

export function shardWrite(
  input: { path: string; document: StoredDocument | undefined },
  { addMicros = 0, hold, release }: ShardChange,
  now: Date,
): Write {
  const { path, document } = input;
  const before = decodeShard(document);
  const others = heldAt(before.held, now).filter(({ id }) => id !== release);
  const held = [...others, ...(hold ? [hold] : [])].map((call) => ({ ...call }));
  const fields = {
    schemaVersion: 1,
    costMicros: before.costMicros + addMicros,
    held,
    expireTime: usageExpiry(now),
  };
  return document
    ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
    : { op: 'create', path, fields };
}
