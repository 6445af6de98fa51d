import type { ContextItemView } from '#shared/wire/resources/context.ts';

const segmentKinds = ['system', 'memory', 'pins', 'snapshot', 'turns'] as const;
type SegmentKind = (typeof segmentKinds)[number];

/** Which part of the gauge a piece of the prompt belongs to. */
export const kindSegments: Readonly<Record<ContextItemView['kind'], SegmentKind>> = {
  system: 'system',
  tools: 'system',
  memory: 'memory',
  pin: 'pins',
  snapshot: 'snapshot',
  ack: 'snapshot',
  turn: 'turns',
  marker: 'turns',
};

interface Segment {
  kind: SegmentKind;
  tokens: number;
}

/** What the estimates of the parts are to be multiplied by so that they add up to the figure; 1 for none. */
export function gaugeScale(tokens: number, items: readonly ContextItemView[]): number {
  const estimated = items.reduce((sum, item) => sum + item.tokens, 0);
  return estimated === 0 ? 1 : tokens / estimated;
}

/** What a context of so many tokens is made of. While nothing is known of its parts, all of it is turns. */
export function toSegments(tokens: number, items: readonly ContextItemView[]): Segment[] {
  const sums = { system: 0, memory: 0, pins: 0, snapshot: 0, turns: 0 };
  for (const item of items) sums[kindSegments[item.kind]] += item.tokens;
  if (segmentKinds.every((kind) => sums[kind] === 0)) sums.turns = tokens;
  const scale = gaugeScale(tokens, items);
  return segmentKinds
    .filter((kind) => sums[kind] > 0)
    .map((kind) => ({ kind, tokens: Math.round(scale * sums[kind]) }));
}
