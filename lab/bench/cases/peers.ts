import { once } from '#shared/once.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { startPeer, type PeerProcess } from '../peers/start-peer.ts';
import { createLongTurns } from '../worlds/long-turns.ts';
import { measureWorker } from './worker.ts';

/** Past turns. */
const SIZES = [10, 1_000];
/** After 1,000 turns. */
const GENKIT_AIM = atMost(0.3);
const SEED_DEADLINE_MS = 180_000;
/** A user has gone by then. */
const TURN_DEADLINE_MS = 30_000;
const COMPACTION_DEADLINE_MS = 120_000;

/** A peer's process, started when it is first asked for. */
function openPeer(start: () => Promise<PeerProcess>) {
  let isOpen = false;
  const open = once(async () => {
    const peer = await start();
    isOpen = true;
    return peer;
  });
  return {
    open,
    close: async () => {
      if (isOpen) await (await open()).close();
    },
  };
}

/** One turn of ours ÷ one of Genkit, on the same database, after as many others. */
function turnGroup(): BenchGroup {
  const turns = createLongTurns();
  const peer = openPeer(async () => {
    const { firestoreHost } = await turns.world();
    return startPeer({ peer: 'genkit', script: 'turns.ts', firestoreHost });
  });
  const cases = SIZES.map((size): BenchCase => {
    const argument = String(size);
    const seeded = once(async () => {
      const genkit = await peer.open();
      await genkit.ask({ work: 'seed', argument }, SEED_DEADLINE_MS);
      return genkit;
    });
    return {
      name: `genkit-${size}`,
      unit: 'ms',
      referenceName: 'Genkit, Firestore session store',
      ...(size === 1_000 && { aim: GENKIT_AIM }),
      ours: async () => (await turns.turn(size)).ms,
      reference: async () => (await seeded()).ask({ work: 'turn', argument }, TURN_DEADLINE_MS),
    };
  });
  const close = async () => {
    await peer.close();
    await turns.close();
  };
  return { name: 'peer-turn', title: 'One turn, ms', cases, close };
}

/** A whole compaction of ours ÷ compress() of Gemini CLI, with models that answer at once; ms of the processor. */
function compactionGroup(): BenchGroup {
  const { open, close } = openPeer(() =>
    startPeer({ peer: 'gemini-cli', script: 'compaction.ts' }),
  );
  const cases = ['chat', 'tools'].flatMap((kind) =>
    ['1000', '10000'].map((messages): BenchCase => ({
      name: `compaction-${kind}-${messages}`,
      unit: 'ms',
      referenceName: 'compress() of Gemini CLI',
      ...(kind === 'tools' && messages === '10000' && { aim: atMost(1) }),
      samples: 3,
      isLong: true,
      ours: () => measureWorker('processor', messages, kind),
      reference: async () => {
        const order = { work: 'compress', argument: `${kind} ${messages}` };
        return (await open()).ask(order, COMPACTION_DEADLINE_MS);
      },
    })),
  );
  return { name: 'peer-compaction', title: 'A compaction without its model, ms', cases, close };
}

/** Everything that is measured beside a peer, in the order of the report. */
export const peerGroups = (): BenchGroup[] => [turnGroup(), compactionGroup()];
