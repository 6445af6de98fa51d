import { readAnswer } from '#shared/compaction/operations.ts';
import { renderSnapshot } from '#shared/compaction/render.ts';
import { measureWideShare, snapshotRoom } from '#shared/compaction/room.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import type { FoldPlan, PlanSource } from '#shared/compaction/plan.ts';
import { writeSnapshot } from '#shared/compaction/write-snapshot.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/once.ts';
import type { BenchCase } from '../bench-case.ts';
import type { ConversationKind } from '../bench-conversation.ts';
import { benchFold, benchSource } from '../bench-plan.ts';
import { elapsedMs } from '../elapsed.ts';

/** What a model asks for, whatever the length of the conversation. */
const OPERATIONS = 40;
const TOPICS = 8;

/** `count` of the folded turns, all over the conversation. */
const spread = ({ folded }: FoldPlan, count: number): FoldPlan['folded'][number][] =>
  Array.from(
    { length: count },
    (_, index) => folded[Math.floor((index * folded.length) / count)],
  ).filter((turn) => turn !== undefined);

/** The answer of a model: statements and topics of turns all over the conversation. */
function answerFor(plan: FoldPlan): string {
  const items = spread(plan, OPERATIONS).map((turn) => ({
    text: `The user asks: ${contentText(turn.user)}`,
    sources: [turn.seq],
  }));
  const topics = spread(plan, TOPICS).map(({ seq }) => ({
    title: `Topic of turn ${seq}`,
    from: seq,
    through: seq,
  }));
  const operations = [{ op: 'add', section: 'key_knowledge', items }];
  return JSON.stringify({ scratchpad: '', operations, topics });
}

/** All that code does for a compaction, from the turns to the text of the snapshot; no model, no store. */
export function compactByCode(source: PlanSource): string {
  const { policy, context, calibration } = source;
  const plan = benchFold(source);
  const counting = tokenCounting(policy, context.model);
  const answer = readAnswer(answerFor(plan));
  if (!answer.ok) throw new Error(answer.problem);
  const room = snapshotRoom({
    budgetTokens: policy.snapshotBudgetTokens,
    foldedTokens: plan.folded.reduce((sum, { tokens }) => sum + tokens.user + tokens.answer, 0),
    previousTokens: 0,
    previous: undefined,
    calibration,
    wideShare: measureWideShare(plan.folded),
  });
  const written = writeSnapshot({
    previous: emptySnapshot('assistant'),
    answer,
    turns: plan.folded,
    recalled: [],
    otherTexts: plan.tail.flatMap(({ user, contents }) => [user, ...contents].map(contentText)),
    room,
    counting,
  });
  if (!written.ok) throw new Error(written.problem);
  return renderSnapshot(written.snapshot, { budgetTokens: room.roomTokens, counting });
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

/** Plan, answer, application, check and rendering together. */
export const engineCases = (): BenchCase[] =>
  (['chat', 'tools'] as const).flatMap((kind) => [
    againstJson(kind, 1_000, 150),
    againstJson(kind, 10_000, 80),
    growth(kind),
  ]);
