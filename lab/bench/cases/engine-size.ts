import { applyOperations } from '#shared/compaction/ledger/operations/apply-operations.ts';
import { readFoldedTurns } from '#shared/compaction/ledger/prompt/ledger-reading.ts';
import type { Operation } from '#shared/compaction/ledger/prompt/operation.ts';
import { renderLedger } from '#shared/compaction/ledger/render-snapshot.ts';
import { verifyLedger } from '#shared/compaction/ledger/verify/verify-ledger.ts';
import type { FoldPlan, PlanSource } from '#shared/compaction/split/plan.ts';
import { tokenCounting } from '#shared/compaction/split/context-tokens.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import type { BenchCase } from '../bench-case.ts';
import type { ConversationKind } from '../bench-conversation.ts';
import { benchFold, benchSource } from '../bench-plan.ts';
import { elapsedMs } from '../elapsed.ts';
import { once } from '#shared/once.ts';

/** What a model asks for, whatever the length of the conversation. */
const OPERATIONS = 40;

/** Statements of turns all over the conversation, as a model would make them. */
function operationsFor({ folded }: FoldPlan): Operation[] {
  return Array.from({ length: OPERATIONS }, (_, index): Operation[] => {
    const turn = folded[Math.floor((index * folded.length) / OPERATIONS)];
    if (turn === undefined) return [];
    const text = `The user asks: ${contentText(turn.user)}`;
    return [{ op: 'add', section: 'key_knowledge', text, sources: [turn.seq] }];
  }).flat();
}

/** All that code does for a compaction, from the turns to the text of the snapshot; no model, no store. */
export function compactByCode(source: PlanSource): string {
  const { policy, context } = source;
  const plan = benchFold(source);
  const reading = readFoldedTurns(plan.folded);
  const applied = applyOperations(
    emptySnapshot('assistant'),
    operationsFor(plan),
    reading.evidence(),
  );
  const room = {
    budgetTokens: policy.snapshotBudgetTokens,
    counting: tokenCounting(policy, context.model),
  };
  const verified = verifyLedger({
    previous: undefined,
    ...applied,
    reading,
    keptTexts: plan.tail.flatMap(({ user, contents }) => [user, ...contents].map(contentText)),
    ...room,
  });
  return renderLedger(verified.snapshot, room);
}

const engineMs = (source: PlanSource) => elapsedMs(() => compactByCode(source));

const againstJson = (kind: ConversationKind, messages: number, aim: number): BenchCase => {
  const source = once(() => benchSource(messages, kind));
  return {
    name: `engine-${kind}-${messages}`,
    unit: 'ms',
    referenceName: 'the same messages as one JSON',
    direction: 'atMost',
    aim,
    samples: 3,
    ours: () => engineMs(source()),
    reference: () => elapsedMs(() => JSON.stringify(source().context.turns)),
  };
};

/** Five times the messages take at most six times as long. */
const growth = (kind: ConversationKind): BenchCase => {
  const few = once(() => benchSource(10_000, kind));
  const many = once(() => benchSource(50_000, kind));
  return {
    name: `engine-growth-${kind}`,
    unit: 'ms',
    referenceName: 'the same for 10,000 messages',
    direction: 'atMost',
    aim: 6,
    samples: 1,
    isLong: true,
    ours: () => engineMs(many()),
    reference: () => engineMs(few()),
  };
};

/** Plan, facts, application, verification and rendering together. */
export const engineCases = (): BenchCase[] =>
  (['chat', 'tools'] as const).flatMap((kind) => [
    againstJson(kind, 1_000, 150),
    againstJson(kind, 10_000, 80),
    growth(kind),
  ]);
