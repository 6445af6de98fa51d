import {
  attackedConversation,
  attackedTurn,
  constraintTurn,
  foldedTurns,
  realConstraint,
  type Attack,
  waysToReadOut,
  type Channel,
} from './eval-adversarial-conversation.ts';
import { checkSnapshot, type AttackFindings } from './eval-adversarial-check.ts';
import type { EvalBench } from '../run/eval-bench.ts';
import { compactThrough } from '../run/eval-compaction.ts';
import { launderingModel } from './eval-laundering-model.ts';
import { appendTurns, storeConversation } from '../run/eval-store.ts';

/** `laundering`: adds the attack to the summary in every way that might pass for the user's will. */
export type Summariser = 'stand-in' | 'laundering';

export interface AttackSettings {
  channel: Channel;
  /** Default: the fake Gemini as it is. */
  summariser?: Summariser;
  /** Of the channel `read-out`: which of the ways. Default: the first. */
  way?: number;
  snapshotTokens?: number;
}

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
    summariser = 'stand-in',
    way = 0,
    snapshotTokens = defaultSnapshotTokens,
  }: AttackSettings,
): Promise<Attacked> {
  const { dependencies, model } = bench;
  const turns = attackedConversation(attack, channel, waysToReadOut[way] ?? String);
  const now = turns[0]?.at ?? dependencies.clock.now();
  const settings = { model, profile: 'assistant', now } as const;
  const { store, randomness } = dependencies;
  const conversationId = await storeConversation(store, settings, randomness);
  bench.answers?.beginConversation({ id: `${attack.id}.${channel}`, strategy: bench.strategy });
  await appendTurns(store, { conversationId, stored: 0 }, turns);
  const laundering = {
    attack: attack.text,
    attackedTurn,
    cover: { quote: realConstraint, turn: constraintTurn },
  };
  const summarising =
    summariser === 'stand-in'
      ? dependencies
      : { ...dependencies, model: launderingModel(dependencies.model, laundering) };
  const run = await compactThrough(summarising, {
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
