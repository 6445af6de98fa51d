import type { PlanSource } from '#shared/compaction/plan.ts';
import type { BenchCase } from '../bench-case.ts';
import type { ConversationKind } from '../bench-conversation.ts';
import { benchFold, benchSource } from '../bench-plan.ts';
import { elapsedMs } from '../elapsed.ts';
import { once } from '#shared/once.ts';
import { processorMs } from '../processor-time.ts';

/** At most so many times one JSON of the same messages. What does not grow with them weighs most on few. */
const aims: readonly (readonly [
  messages: number,
  aim: Readonly<Record<ConversationKind, number>>,
])[] = [
  [1_000, { chat: 15, tools: 15 }],
  [10_000, { chat: 3, tools: 8 }],
  [50_000, { chat: 2, tools: 5 }],
];

const planMs = (source: PlanSource) => elapsedMs(() => benchFold(source));

const againstJson = (kind: ConversationKind, messages: number, aim: number): BenchCase => {
  const source = once(() => benchSource(messages, kind));
  return {
    name: `plan-${kind}-${messages}`,
    unit: 'ms',
    referenceName: 'the same messages as one JSON',
    direction: 'atMost',
    aim,
    samples: 5,
    ours: () => planMs(source()),
    reference: () => elapsedMs(() => JSON.stringify(source().context.turns)),
  };
};

/** How many times as many messages the longer of two conversations has. */
const GROWTH = 5;

/**
 * Five times the messages take at most six times as long. The short plan is made as often as it is shorter, so that both
 * sides take as long and leave as much garbage; processor time, which a busy machine does not stretch as much.
 */
const growth = (kind: ConversationKind): BenchCase => {
  const few = once(() => benchSource(10_000, kind));
  const many = once(() => benchSource(GROWTH * 10_000, kind));
  const plansOfFew = (): void => {
    for (let time = 0; time < GROWTH; time++) benchFold(few());
  };
  return {
    name: `plan-${kind}-growth`,
    unit: 'ms',
    referenceName: 'the plan of 10,000 messages, the mean of five in a row',
    direction: 'atMost',
    aim: 6,
    samples: 9,
    isLong: true,
    ours: () => processorMs(() => benchFold(many())),
    reference: async () => (await processorMs(plansOfFew)) / GROWTH,
  };
};

/** The whole plan of a compaction of a conversation that nobody compacted before. */
export const planCases = (): BenchCase[] =>
  (['chat', 'tools'] as const).flatMap((kind) => [
    ...aims.map(([messages, aim]) => againstJson(kind, messages, aim[kind])),
    growth(kind),
  ]);
