import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ContextItemView, ContextView } from '#shared/wire/resources/context.ts';

const segmentKinds = ['system', 'memory', 'pins', 'snapshot', 'tail'] as const;
type SegmentKind = (typeof segmentKinds)[number];

/** Which part of the gauge a piece of the prompt belongs to. */
export const kindSegments: Readonly<Record<ContextItemView['kind'], SegmentKind>> = {
  system: 'system',
  tools: 'system',
  memory: 'memory',
  pin: 'pins',
  snapshot: 'snapshot',
  ack: 'snapshot',
  turn: 'tail',
  marker: 'tail',
};

interface Segment {
  kind: SegmentKind | 'free';
  tokens: number;
  /** Of the scale, 0–1. */
  share: number;
}

export interface Mark {
  kind: 'soft' | 'hard' | 'window';
  tokens: number;
  /** On the scale, 0–1; a window beyond it stands at its end. */
  at: number;
  isBeyond: boolean;
}

export interface Gauge {
  segments: Segment[];
  marks: Mark[];
}

/** Room behind the hard threshold, so that its mark does not stand at the edge. */
const SCALE_ROOM = 1.08;

/** What the estimates of the parts are to be multiplied by so that they add up to the figure; 1 for none. */
export function gaugeScale(tokens: number, items: readonly ContextItemView[]): number {
  const estimated = items.reduce((sum, item) => sum + item.tokens, 0);
  return estimated === 0 ? 1 : tokens / estimated;
}

/** Tokens of the prompt by what they are. */
function tokensByKind(items: readonly ContextItemView[]): Record<SegmentKind, number> {
  const sums = { system: 0, memory: 0, pins: 0, snapshot: 0, tail: 0 };
  for (const { kind, tokens } of items) sums[kindSegments[kind]] += tokens;
  return sums;
}

function marksOf(
  context: ContextObject,
  hardTokens: number | undefined,
  scaleTokens: number,
): Mark[] {
  const wanted: [Mark['kind'], number | null | undefined][] = [
    ['soft', context.thresholdTokens],
    ['hard', hardTokens],
    ['window', context.windowTokens],
  ];
  return wanted.flatMap(([kind, tokens]) =>
    tokens === null || tokens === undefined
      ? []
      : [{ kind, tokens, at: Math.min(1, tokens / scaleTokens), isBeyond: tokens > scaleTokens }],
  );
}

/**
 * How full the context is, and of what. The figure is that of the context object; the parts are estimates and
 * are scaled to it. The scale ends a little behind the hard threshold, not at the window, which may be fifty
 * times as far.
 */
export function toGauge(context: ContextObject, shown: ContextView | undefined): Gauge {
  const { tokens, thresholdTokens, windowTokens } = context;
  const hardTokens = shown?.policy?.hardThreshold.tokens;
  const limit = hardTokens ?? thresholdTokens ?? windowTokens;
  const scaleTokens = Math.max(1, Math.min(windowTokens, limit * SCALE_ROOM), tokens);
  const items = shown?.items ?? [];
  const sums = tokensByKind(items);
  // Nothing is known of the parts yet: all of it is the tail.
  if (segmentKinds.every((kind) => sums[kind] === 0)) sums.tail = tokens;
  const factor = gaugeScale(tokens, items);
  const used = segmentKinds.map((kind) => ({
    kind,
    tokens: Math.round(sums[kind] * factor),
    share: (sums[kind] * factor) / scaleTokens,
  }));
  const free: Segment = {
    kind: 'free',
    tokens: Math.max(0, (thresholdTokens ?? windowTokens) - tokens),
    share: Math.max(0, 1 - tokens / scaleTokens),
  };
  return { segments: [...used, free], marks: marksOf(context, hardTokens, scaleTokens) };
}
