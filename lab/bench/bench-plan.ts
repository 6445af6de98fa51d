import { resolvePolicy } from '#shared/compaction/policy.ts';
import { planCompaction, type FoldPlan, type PlanSource } from '#shared/compaction/plan.ts';
import { benchTurns, type ConversationKind } from './bench-conversation.ts';

const MODEL = 'gemini-3.8-flash';

/** A conversation that nobody compacted before. */
export const benchSource = (messages: number, kind: ConversationKind): PlanSource => ({
  context: {
    model: MODEL,
    pins: [],
    history: undefined,
    coveredThrough: { seq: 0, contentIndex: 0 },
    turns: benchTurns(messages, kind),
  },
  policy: resolvePolicy({ model: MODEL }),
  calibration: 1,
  summariserWindowTokens: 1_048_576,
  strategy: 'ledger',
  isModelAllowed: true,
  blobName: (text) => `${text.length} ${text.slice(0, 32)}`,
});

/** What of it is folded. Throws Error where nothing is: a benchmark of nothing is fast. */
export function benchFold(source: PlanSource): FoldPlan {
  const plan = planCompaction(source);
  if (plan.kind !== 'fold') throw new Error(`${source.context.turns.length} turns are not folded`);
  return plan;
}
