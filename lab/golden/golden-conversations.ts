import type { Profile } from '#shared/conversation/documents/snapshot.ts';

/** A conversation, when it is compacted, and what its snapshots must make sense of. */
export interface GoldenConversation {
  /** Of its file and of its snapshots. */
  name: string;
  title: string;
  profile: Profile;
  /** How many turns there are at each compaction. */
  compactedAt: readonly [number, number, number];
  snapshotBudgetTokens: number;
}

export const goldenConversations: readonly GoldenConversation[] = [
  {
    name: 'trip',
    title: 'A trip to Portugal',
    profile: 'assistant',
    compactedAt: [34, 62, 91],
    snapshotBudgetTokens: 1_200,
  },
  {
    name: 'coding',
    title: 'A passenger is charged twice',
    profile: 'coding',
    compactedAt: [20, 40, 59],
    snapshotBudgetTokens: 1_200,
  },
  {
    name: 'family',
    title: '小宇看病和家里的购物',
    profile: 'assistant',
    compactedAt: [26, 43, 60],
    snapshotBudgetTokens: 900,
  },
];
