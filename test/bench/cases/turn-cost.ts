import { resolvePolicy } from '../../../shared/compaction/policy.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { once } from '../../../shared/once.ts';
import { bareBurstMs, parallelSendsMs } from '../worlds/contention.ts';
import { startEmulatedChat } from '../worlds/emulated-chat.ts';
import { buildLongConversation } from '../worlds/long-conversation.ts';
import { oneTurn, type TurnWork } from '../worlds/one-turn.ts';
import { floorMs } from '../worlds/turn-floor.ts';

const SIZES = [10, 100, 1_000, 10_000] as const;
/** Of the model of the conversations; any call below it may be made without a compaction. */
const THRESHOLD_TOKENS =
  resolvePolicy({ model: 'gemini-2.5-flash' }).softThresholdTokens ?? Number.NaN;
type Size = (typeof SIZES)[number];

/** Conversations of all sizes in one database, each with an instance that knows it. */
function createTurns() {
  let isOpen = false;
  const newest = new Map<Size, TurnWork>();
  const open = once(async () => {
    isOpen = true;
    const world = await startEmulatedChat();
    const ids = new Map<Size, string>();
    for (const size of SIZES) {
      const id = await buildLongConversation(world, size);
      ids.set(size, id);
      // The first one reads the context; those that are measured find it in the cache.
      await oneTurn(world, id);
      newest.set(size, await oneTurn(world, id));
    }
    return { world, ids };
  });
  return {
    world: async () => (await open()).world,
    turn: async (size: Size): Promise<TurnWork> => {
      const { world, ids } = await open();
      const turn = await oneTurn(world, ids.get(size) ?? '');
      newest.set(size, turn);
      return turn;
    },
    table: () =>
      [...newest]
        .map(
          ([size, { ms, reads, writes, bytes, promptTokens }]) =>
            `${size.toLocaleString('en-US')} turns: ${Math.round(ms)} ms, ${reads} reads, ${writes} writes, ${bytes} bytes, ${promptTokens} tokens`,
        )
        .join('; '),
    close: async () => {
      if (isOpen) await (await open()).world.close();
    },
  };
}

type Turns = ReturnType<typeof createTurns>;

/** One figure of a turn at two lengths of the conversation. */
const growth = (
  turns: Turns,
  of: {
    name: string;
    unit: BenchCase['unit'];
    aim: number;
    than: Size;
    read: (turn: TurnWork) => number;
  },
): BenchCase => ({
  name: of.name,
  unit: of.unit,
  referenceName: `a turn after ${of.than.toLocaleString('en-US')}`,
  direction: 'atMost',
  aim: of.aim,
  ours: async () => of.read(await turns.turn(10_000)),
  reference: async () => of.read(await turns.turn(of.than)),
});

/** One turn after 10 to 10,000 others, over the Firestore emulator. */
export function turnGroup(): BenchGroup {
  const turns = createTurns();
  let floorOf: TurnWork | undefined;
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
  return { name: 'turn', title: 'One turn', cases, close: turns.close };
}
