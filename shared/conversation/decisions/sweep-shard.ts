/**
 * Into so many shards the times of all conversations are divided. Firestore takes 500 writes a second to a
 * collection whose documents have sequential values in one index ("Sharded timestamps" in its documentation), and
 * a turn writes its conversation document twice: ten shards are 2,500 turns a second.
 */
const SWEEP_SHARDS = 10;

/** Every shard, for a sweep that looks into all of them. */
export const sweepShards: readonly number[] = Array.from(
  { length: SWEEP_SHARDS },
  (_, shard) => shard,
);

/** The shard of a conversation, always the same; ids of any form are spread evenly. */
export function pickSweepShard(conversationId: string): number {
  let hash = 0;
  for (let i = 0; i < conversationId.length; i++)
    hash = (hash * 31 + conversationId.charCodeAt(i)) % 1_000_003;
  return hash % SWEEP_SHARDS;
}
