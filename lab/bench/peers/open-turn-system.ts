import { once } from '#shared/once.ts';
import type { WireCounter } from '../worlds/wire-counter.ts';
import { startPeer, type PeerProcess } from './peer-process.ts';
import type { Figures } from './peer-wire.ts';
import type { PeerTurn } from './turn-note.ts';
import type { TurnSystem } from './turn-systems.ts';

const SEED_DEADLINE_MS = 120_000;
/** A user has gone by then. */
const TURN_DEADLINE_MS = 30_000;

export interface OpenTurnSystem {
  /** Installs and starts it. Rejects where that cannot be. */
  start: () => Promise<PeerProcess>;
  /** One turn after so many others. Rejects with what the peer says, or when a user would have gone. */
  turn: (past: number) => Promise<PeerTurn>;
  close: () => Promise<void>;
}

/** A peer's process and its conversations, each made when first asked for; `openWire` leads to the emulator. */
export function openTurnSystem(
  system: TurnSystem,
  openWire: () => Promise<WireCounter>,
): OpenTurnSystem {
  let isOpen = false;
  const start = once(async () => {
    const { host } = await openWire();
    const peer = await startPeer({
      ...system,
      ...(system.isOnEmulator && { firestoreHost: host }),
    });
    isOpen = true;
    return peer;
  });
  const seeds = new Map<number, Promise<Figures>>();
  return {
    start,
    turn: async (past) => {
      const peer = await start();
      const argument = String(past);
      const seed = seeds.get(past) ?? peer.ask({ work: 'seed', argument }, SEED_DEADLINE_MS);
      seeds.set(past, seed);
      const seeded = await seed;
      const wire = await openWire();
      const bytesBefore = wire.bytes();
      const figures = await peer.ask({ work: 'turn', argument }, TURN_DEADLINE_MS);
      const bytes = wire.bytes() - bytesBefore;
      return { ms: Number.NaN, ...seeded, ...figures, ...(system.isOnEmulator && { bytes }) };
    },
    close: async () => {
      if (isOpen) await (await start()).close();
    },
  };
}
