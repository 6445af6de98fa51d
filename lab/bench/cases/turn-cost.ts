import { resolvePolicy } from '#shared/compaction/policy.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { bareBurstMs, parallelSendsMs } from '../worlds/contention.ts';
import { createLongTurns, turnSizes, type LongTurns, type TurnSize } from '../worlds/long-turns.ts';
import type { StoreWork } from '../worlds/counted-store.ts';
import type { TurnWork } from '../worlds/one-turn.ts';
import { answerOfSixSeconds } from '../worlds/six-seconds.ts';
import { floorMs } from '../worlds/turn-floor.ts';

/** Of the model of the conversations; any call below it may be made without a compaction. */
const THRESHOLD_TOKENS =
  resolvePolicy({ model: 'gemini-2.5-flash' }).softThresholdTokens ?? Number.NaN;

/** One figure of a turn at two lengths of the conversation. */
const growth = (
  turns: LongTurns<TurnSize>,
  input: {
    name: string;
    unit: BenchCase['unit'];
    aim: number;
    than: TurnSize;
    read: (turn: TurnWork) => number;
  },
): BenchCase => ({
  name: input.name,
  unit: input.unit,
  referenceName: `a turn after ${input.than.toLocaleString('en-US')}`,
  direction: 'atMost',
  aim: input.aim,
  ours: async () => input.read(await turns.turn(10_000)),
  reference: async () => input.read(await turns.turn(input.than)),
});

/** What a turn asks of the store. */
function storeCases(turns: LongTurns<TurnSize>): BenchCase[] {
  let floorOf: TurnWork | undefined;
  let sixSeconds: StoreWork | undefined;
  return [
    {
      name: 'store-work',
      unit: 'ms',
      referenceName: 'as many documents by one read and two batches of Google’s client',
      direction: 'atMost',
      aim: 1.5,
      ours: async () => (floorOf = await turns.turn(1_000)).busyMs,
      reference: async () => floorMs(await turns.world(), floorOf ?? (await turns.turn(1_000))),
    },
    {
      name: 'warm-reads',
      unit: 'documents',
      referenceName: 'one document',
      direction: 'atMost',
      aim: 3,
      samples: 3,
      ours: async () => (await turns.turn(1_000)).reads,
      reference: () => 1,
    },
    {
      name: 'turn-writes',
      unit: 'documents',
      referenceName: 'one document',
      direction: 'atMost',
      aim: 18,
      samples: 1,
      ours: async () => (sixSeconds = await answerOfSixSeconds()).writes,
      reference: () => 1,
      note: () => `an answer of six seconds, with ${sixSeconds?.reads} reads`,
    },
    {
      name: 'contention',
      unit: 'ms',
      referenceName: '20 writers with bare guarded batches',
      direction: 'atMost',
      aim: 3,
      samples: 5,
      ours: async () => parallelSendsMs(await turns.world()),
      reference: async () => bareBurstMs(await turns.world()),
    },
  ];
}

/** One turn after 10 to 10,000 others, over the Firestore emulator. */
export function turnGroup(): BenchGroup {
  const turns = createLongTurns(turnSizes);
  const cases: BenchCase[] = [
    {
      ...growth(turns, {
        name: 'turn-growth',
        unit: 'ms',
        aim: 1.3,
        than: 10,
        read: ({ ms }) => ms,
      }),
      note: () => turns.table(),
    },
    growth(turns, {
      name: 'turn-bytes',
      unit: 'bytes',
      aim: 1.1,
      than: 10,
      read: ({ bytes }) => bytes,
    }),
    {
      name: 'turn-tokens',
      unit: 'tokens',
      referenceName: 'the threshold at which a compaction is asked for',
      direction: 'atMost',
      aim: 1,
      samples: 3,
      ours: async () => (await turns.turn(10_000)).promptTokens,
      reference: () => THRESHOLD_TOKENS,
    },
    ...storeCases(turns),
  ];
  return { name: 'turn', title: 'One turn', cases, close: turns.close };
}
