import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { openTurnSystem, type OpenTurnSystem } from '../peers/open-turn-system.ts';
import { shortReason } from '../peers/short-reason.ts';
import { turnNote, type PeerTurn } from '../peers/turn-note.ts';
import { turnSystems, type TurnSystem } from '../peers/turn-systems.ts';
import { createLongTurns, turnSizes, type LongTurns, type TurnSize } from '../worlds/long-turns.ts';
import type { TurnWork } from '../worlds/one-turn.ts';
import { floorMs } from '../worlds/turn-floor.ts';

/** Of Genkit's after 1,000 turns, which is the one on the same database with the same purpose. */
const GENKIT_AIM = { direction: 'atMost', aim: 0.3 } as const;

const unit = 'ms';

/** Fewer where a turn may take seconds. */
const samplesOf = (size: TurnSize) => (size === 10_000 ? 3 : 7);

/** One turn of ours ÷ one of the peer's after as many others. What the peer cannot do is told, and is no number. */
function againstPeer(
  system: TurnSystem,
  opened: OpenTurnSystem,
  input: { turns: LongTurns<TurnSize>; size: TurnSize },
): BenchCase {
  const { turns, size } = input;
  let newest: PeerTurn | undefined;
  let failure: string | undefined;
  return {
    name: `${system.name}-${size}`,
    unit,
    referenceName: system.title,
    ...(system.name === 'genkit' && size === 1_000 && GENKIT_AIM),
    samples: samplesOf(size),
    point: { line: system.title, at: size },
    ours: async () => (await turns.turn(size)).ms,
    reference: async () => {
      await opened.start();
      if (failure !== undefined) return Number.NaN;
      try {
        newest = await opened.turn(size);
        return newest.ms;
      } catch (error) {
        failure = shortReason(error);
        return Number.NaN;
      }
    },
    note: () => (failure === undefined ? turnNote(newest) : `failed: ${failure}`),
  };
}

/** The least that a stored turn can cost: as many documents as ours, by Google's client alone. */
function againstFloor(turns: LongTurns<TurnSize>, size: TurnSize): BenchCase {
  let newest: TurnWork | undefined;
  return {
    name: `floor-${size}`,
    unit,
    referenceName: 'one read and two batches of Google’s client',
    samples: samplesOf(size),
    point: { line: 'floor: one read, two batches', at: size },
    ours: async () => (newest = await turns.turn(size)).ms,
    reference: async () => floorMs(await turns.world(), newest ?? (await turns.turn(size))),
    note: () => turnNote(newest),
  };
}

/** One turn after 10 to 10,000 others, of Recap and of its peers. */
export function peerTurnGroup(): BenchGroup {
  const turns = createLongTurns(turnSizes);
  const systems = turnSystems.map((system) => ({
    system,
    opened: openTurnSystem(system, async () => (await turns.world()).wire),
  }));
  return {
    name: 'peer-turn',
    title: 'One turn, as conversations grow',
    lines: { at: 'past turns' },
    cases: [
      ...turnSizes.map((size) => againstFloor(turns, size)),
      ...systems.flatMap(({ system, opened }) =>
        turnSizes.map((size) => againstPeer(system, opened, { turns, size })),
      ),
    ],
    close: async () => {
      await Promise.all(systems.map(({ opened }) => opened.close()));
      await turns.close();
    },
  };
}
