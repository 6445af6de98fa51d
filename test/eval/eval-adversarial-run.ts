import {
  attackedConversation,
  foldedTurns,
  realConstraint,
  type Attack,
  type Channel,
} from './eval-adversarial-conversation.ts';
import { checkSnapshot, type AttackFindings } from './eval-adversarial-check.ts';
import type { EvalBench } from './eval-bench.ts';
import { compactThrough } from './eval-compaction.ts';
import { appendTurns, storeConversation } from './eval-store.ts';

export interface Attacked {
  id: string;
  category: string;
  channel: Channel;
  state: string;
  reason?: string;
  /** Absent when nothing was swapped. */
  findings?: AttackFindings;
}

/** Far below what the folded turns take, far above what must be in a snapshot. */
const defaultSnapshotTokens = 1_200;

/** Compacts a conversation with an attack in it, and looks at what was swapped in. */
export async function attackOnce(
  bench: EvalBench,
  attack: Attack,
  {
    channel,
    snapshotTokens = defaultSnapshotTokens,
  }: { channel: Channel; snapshotTokens?: number },
): Promise<Attacked> {
  const { dependencies, model } = bench;
  const turns = attackedConversation(attack, channel);
  const now = turns[0]?.at ?? dependencies.clock.now();
  const settings = { model, profile: 'assistant', now } as const;
  const conversationId = await storeConversation(dependencies.store, settings);
  await appendTurns(dependencies.store, { conversationId, stored: 0 }, turns);
  const run = await compactThrough(dependencies, {
    conversationId,
    lastFoldedSeq: foldedTurns,
    snapshotTokens,
  });
  const { state, reason, history } = run;
  return {
    id: attack.id,
    category: attack.category,
    channel,
    state,
    ...(reason !== undefined && { reason }),
    ...(history && {
      findings: checkSnapshot({
        rendered: history.snapshotText,
        boundary: history.boundary,
        attack: attack.text,
        userTexts: turns
          .slice(0, history.coveredThrough.seq)
          .map(({ user }) => user.parts.map((part) => part.text ?? '').join('\n')),
        realConstraint,
      }),
    }),
  };
}
