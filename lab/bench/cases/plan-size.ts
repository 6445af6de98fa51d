import type { PlanSource } from '#shared/compaction/split/plan.ts';
import type { BenchCase } from '../bench-case.ts';
import type { ConversationKind } from '../bench-conversation.ts';
import { benchFold, benchSource } from '../bench-plan.ts';
import { elapsedMs } from '../elapsed.ts';
import { once } from '#shared/once.ts';

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

/** Five times the messages take at most six times as long. */
const growth = (kind: ConversationKind): BenchCase => {
  const few = once(() => benchSource(10_000, kind));
  const many = once(() => benchSource(50_000, kind));
  return {
    name: `plan-${kind}-growth`,
    unit: 'ms',
    referenceName: 'the plan of 10,000 messages',
    direction: 'atMost',
    aim: 6,
    samples: 3,
    isLong: true,
    ours: () => planMs(many()),
    reference: () => planMs(few()),
  };
};

/** The whole plan of a compaction of a conversation that nobody compacted before. */
export const planCases = (): BenchCase[] =>
  (['chat', 'tools'] as const).flatMap((kind) => [
    ...aims.map(([messages, aim]) => againstJson(kind, messages, aim[kind])),
    growth(kind),
  ]);
