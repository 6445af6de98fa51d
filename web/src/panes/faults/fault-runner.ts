import { batch, signal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { toolTexts } from '../tools.ts';
import { openBench, type BenchParts } from './bench.ts';
import { faultNames, faults } from './fault-list.ts';
import type { FaultName, Verdict } from './finding.ts';
import type { Supervisor, SupervisorState } from './supervisor.ts';

export type FaultState =
  | { phase: 'idle' }
  | { phase: 'running'; elapsedMs: number }
  | { phase: 'judged'; verdict: Verdict; tookMs: number }
  | { phase: 'failed'; problem: string };

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

interface Trial extends Omit<BenchParts, 'title' | 'thresholdTokens'> {
  name: FaultName;
  onTick: (elapsedMs: number) => void;
}

/** Tries a fault in a conversation of its own; nothing is armed before and after. */
async function tryFault(trial: Trial): Promise<FaultState> {
  const { app, supervisor, name, signal: ended } = trial;
  const { run, thresholdTokens } = faults[name];
  const { title } = toolTexts(app).faults.names[name];
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  const ticker = setInterval(() => trial.onTick(elapsed()), TICK_MS);
  try {
    await supervisor.reset();
    const bench = await openBench({ ...trial, title, thresholdTokens });
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

/** What the supervisor said of itself last; undefined: nothing yet. */
function watchSupervisor(supervisor: Supervisor) {
  const told = signal<SupervisorState | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const look = async (): Promise<void> => {
    try {
      const state = await supervisor.state();
      batch(() => {
        told.value = state;
        problem.value = undefined;
      });
    } catch (error) {
      problem.value = String(error);
    }
  };
  return { supervisor: told, problem, look };
}

/** Runs faults one after the other: they share a model, a line and a worker. */
export function createFaultRunner(app: App, supervisor: Supervisor) {
  const states = signal<Readonly<Partial<Record<FaultName, FaultState>>>>({});
  const running = signal<FaultName | undefined>(undefined);
  const watch = watchSupervisor(supervisor);
  let run = new AbortController();
  const stop = (): void => run.abort(new Error('stopped'));

  async function tryOne(name: FaultName, ended: AbortSignal): Promise<void> {
    const set = (state: FaultState): void => {
      states.value = { ...states.peek(), [name]: state };
    };
    const onTick = (elapsedMs: number): void => set({ phase: 'running', elapsedMs });
    running.value = name;
    onTick(0);
    const hasFakeGemini = watch.supervisor.value?.model !== null;
    set(await tryFault({ app, supervisor, name, hasFakeGemini, onTick, signal: ended }));
  }

  return {
    ...watch,
    running,
    stateOf: (name: FaultName): FaultState => states.value[name] ?? idle,
    run: async (names: readonly FaultName[]): Promise<void> => {
      if (running.peek() !== undefined) return;
      run = new AbortController();
      const { signal: ended } = run;
      for (const name of faultNames.filter((each) => names.includes(each)))
        if (!ended.aborted) await tryOne(name, ended);
      running.value = undefined;
      await watch.look();
    },
    stop,
    reset: async (): Promise<void> => {
      stop();
      await supervisor.reset().catch((error: unknown) => (watch.problem.value = String(error)));
      states.value = {};
      await watch.look();
    },
  };
}

export type FaultRunner = ReturnType<typeof createFaultRunner>;
