import { once } from '#shared/lib/once.ts';
import { roomForRecords } from '#shared/recall/excerpts.ts';
import { recall } from '#shared/recall/recall.ts';
import {
  passagesOfTurns,
  RECALL_TOKENS_DEFAULT,
  SEGMENT_TURNS,
  segmentOfPassages,
} from '#shared/recall/segment.ts';
import { textsOfTurn } from '#shared/search/turn-texts.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { benchTurns, reservationOf } from '../worlds/bench-conversation.ts';
import { createLongTurns, type LongTurns } from '../worlds/long-turns.ts';

const message = `What does a night cost with the reservation ${reservationOf(7)}, and where do we stay in Busan?`;
const words = message.match(/\w+/gu) ?? [];

/** Look-ups of a sample; after the first ones Node has compiled what they run. */
const LOOK_UPS = 20;

/** How long `work` takes, of as many times the mean; ms. */
function meanMs(work: () => unknown): number {
  const startedAt = performance.now();
  for (let time = 0; time < LOOK_UPS; time++) work();
  return (performance.now() - startedAt) / LOOK_UPS;
}

/** No store and no model: what a turn waits for where the index is at hand, on an instance that serves turns. */
function lookUpCase(turns: number, aim: number): BenchCase {
  const texts = once(() => benchTurns(2 * turns, 'chat').map(textsOfTurn));
  const segments = once(() =>
    [...Map.groupBy(passagesOfTurns(texts()), ({ seq }) => Math.ceil(seq / SEGMENT_TURNS)).values()]
      .map(segmentOfPassages)
      .toReversed(),
  );
  const lines = once(() => texts().map((text) => JSON.stringify(text)));
  return {
    name: `recall-cpu-${turns}`,
    unit: 'ms',
    referenceName: 'a plain search for each word of the message in all turns',
    aim: atMost(aim),
    ours: () => {
      const looks = { message, hidden: new Set<number>(), known: [] };
      const input = { ...looks, segments: segments(), throughSeq: turns };
      return meanMs(() => recall({ ...input, hasRoomFor: roomForRecords(RECALL_TOKENS_DEFAULT) }));
    },
    reference: () => {
      const all = lines();
      return meanMs(() => words.map((word) => all.filter((line) => line.includes(word))));
    },
  };
}

const firstTextCase = (turns: LongTurns, past: number): BenchCase => ({
  name: `recall-first-text-${past}`,
  unit: 'ms',
  referenceName: 'the same with recall off',
  aim: atMost(1.5),
  samples: 15,
  isLong: true,
  ours: async () => (await turns.turn(past)).firstTextMs,
  reference: async () => (await turns.turn(past, { recallTokens: 0 })).firstTextMs,
});

const MOST_TURNS = 20_000;

/** What bringing back folded turns takes, in long conversations. */
export function recallGroup(): BenchGroup {
  const turns = createLongTurns();
  const cases: BenchCase[] = [
    lookUpCase(1_000, 3),
    lookUpCase(50_000, 0.5),
    firstTextCase(turns, 1_000),
    firstTextCase(turns, MOST_TURNS),
    {
      name: 'recall-warm-reads',
      unit: 'documents',
      referenceName: 'the same with recall off',
      aim: atMost(1),
      samples: 1,
      isLong: true,
      ours: async () => (await turns.turn(MOST_TURNS)).reads,
      reference: async () => (await turns.turn(MOST_TURNS, { recallTokens: 0 })).reads,
    },
    {
      name: 'recall-cold-reads',
      unit: 'documents',
      referenceName: 'one for a thousand turns',
      aim: atMost(1),
      samples: 1,
      isLong: true,
      ours: async () => (await turns.coldTurn(MOST_TURNS)).indexReads,
      reference: () => MOST_TURNS / SEGMENT_TURNS,
    },
  ];
  return { name: 'recall', title: 'Bringing back folded turns', cases, close: turns.close };
}
