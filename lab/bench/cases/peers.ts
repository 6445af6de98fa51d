import { once } from '#shared/lib/once.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { shortReason } from '../peers/serve-peer.ts';
import { startPeer } from '../peers/start-peer.ts';
import { createLongTurns, type LongTurns } from '../worlds/long-turns.ts';
import { openOnce } from '../worlds/open-once.ts';
import { measureWorker } from './worker.ts';

/** A peer that keeps conversations, used as its documentation says. */
interface TurnSystem {
  peer: string;
  title: string;
  /** Else it stores in a file of its own. */
  isOnEmulator: boolean;
}

const turnSystems: readonly TurnSystem[] = [
  { peer: 'genkit', title: 'Genkit, Firestore session store', isOnEmulator: true },
  { peer: 'adk', title: 'ADK, database session service (file)', isOnEmulator: false },
  {
    peer: 'langgraph',
    title: 'LangGraph with summarizationMiddleware, Firestore checkpointer',
    isOnEmulator: true,
  },
  { peer: 'mastra', title: 'Mastra, 10 newest messages (file)', isOnEmulator: false },
];

/** Past turns. */
const SIZES = [10, 1_000];
/** Of Genkit's after 1,000 turns, which is the one on the same database with the same purpose. */
const GENKIT_AIM = atMost(0.3);
const SEED_DEADLINE_MS = 180_000;
/** A user has gone by then. */
const TURN_DEADLINE_MS = 30_000;
const COMPACTION_DEADLINE_MS = 120_000;

/** Turns of ours ÷ turns of the peer's after as many others. What the peer cannot do is told, and is no number. */
function turnCases(system: TurnSystem, turns: LongTurns): BenchGroup {
  const { peer, title, isOnEmulator } = system;
  const { open, close } = openOnce(async () => {
    const { firestoreHost } = await turns.world();
    return startPeer({ peer, script: 'turns.js', ...(isOnEmulator && { firestoreHost }) });
  });
  const cases = SIZES.map((size): BenchCase => {
    const argument = String(size);
    let failure: string | undefined;
    const seed = once(async () => (await open()).ask({ work: 'seed', argument }, SEED_DEADLINE_MS));
    return {
      name: `${peer}-${size}`,
      unit: 'ms',
      referenceName: title,
      ...(peer === 'genkit' && size === 1_000 && { aim: GENKIT_AIM }),
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
  return { name: peer, title, cases, close };
}

/** One turn after 10 and 1,000 others, of Recap and of its peers. */
function turnGroup(): BenchGroup {
  const turns = createLongTurns();
  const systems = turnSystems.map((system) => turnCases(system, turns));
  return {
    name: 'peer-turn',
    title: 'One turn, ms',
    cases: systems.flatMap(({ cases }) => cases),
    close: async () => {
      for (const { close } of systems) await close?.();
      await turns.close();
    },
  };
}

/** A whole compaction of ours ÷ compress() of Gemini CLI, with models that answer at once; ms of the processor. */
function compactionGroup(): BenchGroup {
  const { open, close } = openOnce(() =>
    startPeer({ peer: 'gemini-cli', script: 'compaction.js' }),
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
