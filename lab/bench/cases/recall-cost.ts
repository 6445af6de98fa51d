import { once } from '#shared/once.ts';
import { recall } from '#shared/recall/recall.ts';
import {
  RECALL_TOKENS_DEFAULT,
  passagesOfTurns,
  segmentOfPassages,
  SEGMENT_TURNS,
} from '#shared/recall/segment.ts';
import { roomForRecords } from '#shared/recall/render-recalled.ts';
import { textsOfTurn } from '#shared/search/turn-texts.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { benchTurns, reservationOf } from '../bench-conversation.ts';
import { elapsedMs } from '../elapsed.ts';
import { createLongTurns, type LongTurns } from '../worlds/long-turns.ts';

const sizes = [100, 1_000, 10_000, 50_000] as const;
type Size = (typeof sizes)[number];

const looks = {
  message: `What does a night cost with the reservation ${reservationOf(7)}, and where do we stay in Busan?`,
  now: new Date('2026-06-01T09:00:00Z'),
  hidden: new Set<number>(),
  known: [],
};

/** The index of so many turns, as an instance keeps it. */
function indexOf(turns: number) {
  const passages = passagesOfTurns(benchTurns(2 * turns, 'chat').map(textsOfTurn));
  return [...Map.groupBy(passages, ({ seq }) => Math.ceil(seq / SEGMENT_TURNS)).values()]
    .map(segmentOfPassages)
    .toReversed();
}

/** Look-ups of a sample; after the first ones Node has compiled what they run. */
const LOOK_UPS = 20;

/** No store and no model: what a turn waits for where the index is at hand, on an instance that serves turns. */
function lookUpCase(turns: number, ceilingMs: number): BenchCase {
  const segments = once(() => indexOf(turns));
  return {
    name: `recall-cpu-${turns}`,
    unit: 'ms',
    referenceName: 'what it may take',
    direction: 'atMost',
    aim: 1,
    ours: () => {
      const input = { ...looks, segments: segments(), throughSeq: turns };
      const lookUpAll = () => {
        for (let i = 0; i < LOOK_UPS; i++)
          recall({ ...input, hasRoomFor: roomForRecords(RECALL_TOKENS_DEFAULT) });
      };
      return elapsedMs(lookUpAll) / LOOK_UPS;
    },
    reference: () => ceilingMs,
  };
}

const firstTextCase = (turns: LongTurns<Size>, size: Size): BenchCase => ({
  name: `recall-first-text-${size}`,
  unit: 'ms',
  referenceName: 'the same with recall off',
  direction: 'atMost',
  aim: 1.5,
  samples: 9,
  isLong: true,
  ours: async () => (await turns.turn(size)).firstTextMs,
  reference: async () => (await turns.turn(size, { recallTokens: 0 })).firstTextMs,
});

const coldReadsCase = (turns: LongTurns<Size>, size: Size): BenchCase => ({
  name: `recall-cold-reads-${size}`,
  unit: 'documents',
  referenceName: 'one for a thousand turns',
  direction: 'atMost',
  aim: 1,
  samples: 1,
  isLong: true,
  ours: async () => (await turns.coldTurn(size)).indexReads,
  reference: () => Math.ceil(size / SEGMENT_TURNS),
});

/** What bringing back folded turns takes, for conversations of 100 to 50,000 turns. */
export function recallGroup(): BenchGroup {
  const turns = createLongTurns(sizes);
  const cases: BenchCase[] = [
    ...[100, 1_000, 2_000].map((size) => lookUpCase(size, 5)),
    ...[10_000, 50_000].map((size) => lookUpCase(size, 25)),
    ...sizes.map((size) => firstTextCase(turns, size)),
    {
      name: 'recall-warm-reads',
      unit: 'documents',
      referenceName: 'the same with recall off',
      direction: 'atMost',
      aim: 1,
      samples: 3,
      isLong: true,
      ours: async () => (await turns.turn(50_000)).reads,
      reference: async () => (await turns.turn(50_000, { recallTokens: 0 })).reads,
      note: turns.table,
    },
    ...sizes.map((size) => coldReadsCase(turns, size)),
  ];
  return { name: 'recall', title: 'Bringing back folded turns', cases, close: turns.close };
}
