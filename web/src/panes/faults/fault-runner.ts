import { batch, signal, type ReadonlySignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { openBench } from './bench.ts';
import { faultNames, faults } from './fault-list.ts';
import type { FaultName, Verdict } from './finding.ts';
import type { Supervisor, SupervisorState } from './supervisor.ts';

export type FaultState =
  | { phase: 'idle' }
  | { phase: 'running'; elapsedMs: number }
  | { phase: 'judged'; verdict: Verdict; tookMs: number }
  | { phase: 'failed'; problem: string };

export interface FaultRunner {
  stateOf(name: FaultName): FaultState;
  running: ReadonlySignal<FaultName | undefined>;
  /** What the supervisor said last; undefined: nothing yet. */
  supervisor: ReadonlySignal<SupervisorState | undefined>;
  problem: ReadonlySignal<string | undefined>;
  run(names: readonly FaultName[]): Promise<void>;
  stop(): void;
  reset(): Promise<void>;
  look(): Promise<void>;
}

const TICK_MS = 500;
const idle: FaultState = { phase: 'idle' };

/** Why a fault cannot be tried here; undefined: it can. */
export function findHindrance(
  name: FaultName,
  state: SupervisorState,
): 'notHere' | 'noStandIn' | undefined {
  const { kills, isOfModel } = faults[name];
  if (kills !== undefined && !state.killable.includes(kills)) return 'notHere';
  return isOfModel && state.model === null ? 'noStandIn' : undefined;
}

interface Trial {
  app: App;
  supervisor: Supervisor;
  name: FaultName;
  /** Of its conversation. */
  title: string;
  hasStandIn: boolean;
  onTick: (elapsedMs: number) => void;
  signal: AbortSignal;
}

/** Tries a fault in a conversation of its own; nothing is armed before and after. */
async function tryFault(trial: Trial): Promise<FaultState> {
  const { app, supervisor, title, hasStandIn, signal: ended } = trial;
  const { run, thresholdTokens } = faults[trial.name];
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  const ticker = setInterval(() => trial.onTick(elapsed()), TICK_MS);
  try {
    await supervisor.reset();
    const given = thresholdTokens === undefined ? {} : { thresholdTokens };
    const bench = await openBench({
      app,
      supervisor,
      signal: ended,
      title,
      hasStandIn,
      ...given,
    });
    const verdict = await run(bench);
    await bench.shown.attempt(() => bench.shown.refresh());
    return { phase: 'judged', verdict, tookMs: elapsed() };
  } catch (error) {
    if (ended.aborted) return idle;
    return { phase: 'failed', problem: error instanceof Error ? error.message : String(error) };
  } finally {
    clearInterval(ticker);
    await supervisor.reset().catch(() => undefined);
  }
}

/** Runs faults one after the other: they share a model, a line and a worker. */
export function createFaultRunner(
  app: App,
  supervisor: Supervisor,
  titleOf: (name: FaultName) => string,
): FaultRunner {
  const states = signal<Readonly<Partial<Record<FaultName, FaultState>>>>({});
  const running = signal<FaultName | undefined>(undefined);
  const told = signal<SupervisorState | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  let run = new AbortController();

  const set = (name: FaultName, state: FaultState): void => {
    states.value = { ...states.peek(), [name]: state };
  };

  async function look(): Promise<void> {
    try {
      const state = await supervisor.state();
      batch(() => {
        told.value = state;
        problem.value = undefined;
      });
    } catch (error) {
      problem.value = String(error);
    }
  }

  return {
    running,
    supervisor: told,
    problem,
    look,
    stateOf: (name) => states.value[name] ?? idle,
    run: async (names) => {
      if (running.peek() !== undefined) return;
      const mine = new AbortController();
      run = mine;
      for (const name of faultNames.filter((each) => names.includes(each))) {
        if (mine.signal.aborted) break;
        running.value = name;
        set(name, { phase: 'running', elapsedMs: 0 });
        const onTick = (elapsedMs: number): void => set(name, { phase: 'running', elapsedMs });
        const hasStandIn = told.value?.model !== null;
        const { signal: ended } = mine;
        const trial = { app, supervisor, name, title: titleOf(name), hasStandIn };
        set(name, await tryFault({ ...trial, onTick, signal: ended }));
      }
      running.value = undefined;
      await look();
    },
    stop: () => run.abort(new Error('stopped')),
    reset: async () => {
      run.abort(new Error('stopped'));
      await supervisor.reset().catch((error: unknown) => (problem.value = String(error)));
      states.value = {};
      await look();
    },
  };
}
