import { once } from '#shared/lib/once.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { shortReason } from '../peers/serve-peer.ts';
import { startPeer, type PeerProcess, type PeerScript } from '../peers/start-peer.ts';
import { createLongTurns, floorMs, type LongTurns, type TurnWork } from '../worlds/long-turns.ts';
import { measureWorker } from './worker.ts';

/** One way in which a peer keeps conversations, as its documentation says to use it. */
interface TurnSystem extends Pick<PeerScript, 'peer' | 'args'> {
  /** Begins the names of its figures. */
  name: string;
  title: string;
  /** Else it stores in a file of its own. */
  isOnEmulator: boolean;
}

const turnSystems: readonly TurnSystem[] = [
  {
    name: 'genkit',
    title: 'Genkit, Firestore session store',
    peer: 'genkit',
    isOnEmulator: true,
  },
  {
    name: 'adk',
    title: 'ADK, database session service (file)',
    peer: 'adk',
    isOnEmulator: false,
  },
  {
    name: 'langgraph',
    title: 'LangGraph, Firestore checkpointer',
    peer: 'langgraph',
    isOnEmulator: true,
  },
  {
    name: 'langgraph-summaries',
    title: 'LangGraph with summarizationMiddleware',
    peer: 'langgraph',
    args: ['summaries'],
    isOnEmulator: true,
  },
  {
    name: 'mastra',
    title: 'Mastra, 10 newest messages (file)',
    peer: 'mastra',
    isOnEmulator: false,
  },
  {
    name: 'mastra-whole',
    title: 'Mastra, whole conversation (file)',
    peer: 'mastra',
    args: ['whole'],
    isOnEmulator: false,
  },
];

/** Past turns. */
const SIZES = [10, 1_000];
/** Of Genkit's after 1,000 turns, which is the one on the same database with the same purpose. */
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

/** Turns of ours ÷ turns of the peer's after as many others. What the peer cannot do is told, and is no number. */
function turnCases(system: TurnSystem, turns: LongTurns): BenchGroup {
  const { name, title, isOnEmulator, ...peer } = system;
  const { open, close } = openPeer(async () => {
    const { firestoreHost } = await turns.world();
    return startPeer({ ...peer, script: 'turns.ts', ...(isOnEmulator && { firestoreHost }) });
  });
  const cases = SIZES.map((size): BenchCase => {
    const argument = String(size);
    let failure: string | undefined;
    const seed = once(async () => (await open()).ask({ work: 'seed', argument }, SEED_DEADLINE_MS));
    return {
      name: `${name}-${size}`,
      unit: 'ms',
      referenceName: title,
      ...(name === 'genkit' && size === 1_000 && { aim: GENKIT_AIM }),
      ours: async () => (await turns.turn(size)).ms,
      reference: async () => {
        const process = await open();
        if (failure !== undefined) return Number.NaN;
        try {
          await seed();
          return await process.ask({ work: 'turn', argument }, TURN_DEADLINE_MS);
        } catch (error) {
          failure = shortReason(error);
          return Number.NaN;
        }
      },
      note: () => (failure === undefined ? title : `failed: ${failure}`),
    };
  });
  return { name, title, cases, close };
}

/** The least that a stored turn can cost: as many documents as ours, by Google's client alone. */
function floorCase(turns: LongTurns, size: number): BenchCase {
  let newest: TurnWork | undefined;
  return {
    name: `floor-${size}`,
    unit: 'ms',
    referenceName: 'one read and two batches of Google’s client',
    ours: async () => (newest = await turns.turn(size)).ms,
    reference: async () => floorMs(await turns.world(), newest ?? (await turns.turn(size))),
  };
}

/** One turn after 10 and 1,000 others, of Recap and of its peers. */
function turnGroup(): BenchGroup {
  const turns = createLongTurns();
  const systems = turnSystems.map((system) => turnCases(system, turns));
  return {
    name: 'peer-turn',
    title: 'One turn, ms',
    cases: [
      ...SIZES.map((size) => floorCase(turns, size)),
      ...systems.flatMap(({ cases }) => cases),
    ],
    close: async () => {
      for (const { close } of systems) await close?.();
      await turns.close();
    },
  };
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
