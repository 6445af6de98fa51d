import { occasionalModules } from '#functions/bootstrap/warm-up.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { nextTick } from 'node:process';

/** What goes wrong at the n-th effect of a process: a store call, a model call or a publish. */
export interface Fault {
  process: string;
  /** Counts from 1 and goes on when a dead process is replaced. */
  effect: number;
  kind: 'crashBefore' | 'crashAfter' | 'lostReply' | 'unavailable' | 'stall';
}

/** The lane (modulo those that are ready) that goes on next, and for how many steps. */
export interface Turn {
  lane: number;
  steps: number;
}

/** A server process: it can die, and a new one takes its name. */
export interface Process {
  readonly name: string;
  isCrashed: boolean;
  /** Resolves when the process dies. */
  readonly crashed: Promise<void>;
  crash(): void;
}

/** What runs one after the other: a phone, a delivery. The schedule chooses between lanes. */
export interface Lane {
  readonly name: string;
  tasks: Task[];
}

/** One flow of work on a process: the requests of one lane on one server. */
export interface Flow {
  lane: Lane;
  process: Process | undefined;
}

interface Task {
  process: Process | undefined;
  label: () => string;
  release: () => void;
}

/** What goes on once the time has come. */
interface Timer extends Task {
  lane: Lane;
  dueMs: number;
}

/** What nothing comes of any more. */
const never = new Promise<never>(() => undefined);

export function createProcess(name: string): Process {
  const { promise: crashed, resolve } = Promise.withResolvers<void>();
  const process: Process = {
    name,
    isCrashed: false,
    crashed,
    crash: () => {
      process.isCrashed = true;
      resolve();
    },
  };
  return process;
}

// Loading takes turns of the event loop, which nobody here waits for: what some turns load is there before.
await Promise.all(occasionalModules.map((load) => load()));

/** More steps than any program of a few actors takes: whoever reaches it goes round for ever. */
const STEP_LIMIT = 20_000;

/** How long a stalled request stands still: longer than any lease, so that another takes over. */
const STALL_MS = 5_000;

/** Long enough for every promise that can go on to have gone on: ticks come after them all. */
const quiet = () =>
  new Promise<void>((resolve) => {
    nextTick(resolve);
  });

const START = new Date('2026-01-02T03:04:05.000Z').getTime();

/** Virtual time, which moves by `elapse` alone; what becomes due waits for its turn. */
function createTime() {
  const timers: Timer[] = [];
  let nowMs = START;
  const forget = (timer: Timer) => {
    if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
  };

  const clock = (flow: Flow): Clock => ({
    now: () => new Date(nowMs),
    wait: (ms, signal) => {
      if (flow.process?.isCrashed === true) return never;
      if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
      return new Promise((resolve) => {
        const release = () => {
          signal?.removeEventListener('abort', cancel);
          resolve();
        };
        const label = () => `has waited ${ms} ms`;
        const timer = { process: flow.process, lane: flow.lane, label, dueMs: nowMs + ms, release };
        const cancel = () => {
          const { tasks } = flow.lane;
          forget(timer);
          if (tasks.includes(timer)) tasks.splice(tasks.indexOf(timer), 1);
          resolve();
        };
        timers.push(timer);
        signal?.addEventListener('abort', cancel, { once: true });
      });
    },
  });

  /** Time passes for everybody. */
  function elapse(ms: number): void {
    nowMs += ms;
    const due = timers.filter(({ dueMs }) => dueMs <= nowMs);
    for (const timer of due.toSorted((a, b) => a.dueMs - b.dueMs)) {
      forget(timer);
      if (timer.process?.isCrashed !== true) timer.lane.tasks.push(timer);
    }
  }

  /** Until the next timer of a process that lives; Infinity: there is none. */
  function untilNextMs(): number {
    for (const timer of timers.filter(({ process }) => process?.isCrashed === true)) forget(timer);
    return Math.min(...timers.map(({ dueMs }) => dueMs)) - nowMs;
  }

  return { clock, elapse, untilNextMs, now: () => new Date(nowMs) };
}

/** The lanes of a run, and whose turn it is. */
function createLanes(schedule: readonly Turn[]) {
  const lanes: Lane[] = [];
  let nextTurn = 0;
  let current: Lane | undefined;
  let stepsLeft = 0;

  const lane = (name: string): Lane => {
    const created: Lane = { name, tasks: [] };
    lanes.push(created);
    return created;
  };

  /** Resolves when the schedule lets this flow go on; never when its process is dead by then. */
  function step(flow: Flow, label: () => string): Promise<void> {
    if (flow.process?.isCrashed === true) return never;
    return new Promise((release) => {
      flow.lane.tasks.push({ process: flow.process, label, release });
    });
  }

  /** The present lane until its steps are used up, then as the schedule says. */
  function choose(): Lane | undefined {
    if (current && stepsLeft > 0 && current.tasks.length > 0) {
      stepsLeft -= 1;
      return current;
    }
    const ready = lanes.filter(({ tasks }) => tasks.length > 0);
    const turn = schedule[nextTurn];
    if (ready.length > 1) nextTurn += 1;
    current = ready[(turn?.lane ?? 0) % Math.max(1, ready.length)];
    stepsLeft = (turn?.steps ?? Infinity) - 1;
    return current;
  }

  function dropCrashed(): void {
    for (const { tasks } of lanes)
      tasks.splice(0, tasks.length, ...tasks.filter((task) => task.process?.isCrashed !== true));
  }

  return {
    lane,
    step,
    choose,
    dropCrashed,
  };
}

/** Which fault befalls the next effect of a process. */
function createFaults(faults: readonly Fault[]) {
  const effects = new Map<string, number>();
  let isCalm = false;
  return {
    /** From here on nothing fails any more. */
    calm: () => {
      isCalm = true;
    },
    take: (process: Process | undefined): Fault['kind'] | undefined => {
      if (!process || isCalm) return undefined;
      const count = (effects.get(process.name) ?? 0) + 1;
      effects.set(process.name, count);
      return faults.find((fault) => fault.process === process.name && fault.effect === count)?.kind;
    },
  };
}

interface Run {
  time: ReturnType<typeof createTime>;
  lanes: ReturnType<typeof createLanes>;
  faults: ReturnType<typeof createFaults>;
  note: (who: string, what: string) => void;
}

function createEffect({ time, lanes, faults, note }: Run) {
  function die(process: Process | undefined, label: string): Promise<never> {
    note(process?.name ?? '', `dies, ${label}`);
    process?.crash();
    lanes.dropCrashed();
    return never;
  }

  /**
   * One effect on the world outside of a process: it waits for its turn before it happens and before its
   * reply arrives. A fault holds it up, refuses it, loses its reply, or kills the process before or after it.
   */
  return async function effect<T>(
    flow: Flow,
    label: () => string,
    act: { apply: () => Promise<T>; failure?: () => Error },
  ): Promise<T> {
    const fault = faults.take(flow.process);
    const failure = act.failure ?? (() => new StoreUnavailableError({ operation: label() }));
    if (fault === 'stall') await time.clock(flow).wait(STALL_MS);
    await lanes.step(flow, label);
    if (fault === 'crashBefore') return die(flow.process, `before: ${label()}`);
    if (fault === 'unavailable') {
      note(flow.lane.name, 'is refused');
      throw failure();
    }
    const outcome = await act.apply().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (fault === 'crashAfter') return die(flow.process, `after: ${label()}`);
    await lanes.step(flow, () => `${'error' in outcome ? 'refused' : 'reply'}: ${label()}`);
    if (fault === 'lostReply') {
      note(flow.lane.name, 'does not hear the reply');
      throw failure();
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
}

interface Plan {
  schedule: readonly Turn[];
  faults: readonly Fault[];
  isTraced?: boolean;
}

export type Interleaving = ReturnType<typeof createInterleaving>;

/**
 * Runs asynchronous code one step at a time, in the order that `schedule` says; the time is virtual and
 * moves when nothing else can, or by `elapse`. Equal input gives equal runs: nothing
 * here is random and no real timer is waited for. An effect fails as `faults` say.
 */
export function createInterleaving({ schedule, faults, isTraced = false }: Plan) {
  const trace: string[] = [];
  const note = (who: string, what: string) => {
    if (isTraced) trace.push(`${who}: ${what}`);
  };
  const time = createTime();
  const lanes = createLanes(schedule);
  const run: Run = { time, lanes, faults: createFaults(faults), note };
  let steps = 0;

  function wakeNext(): boolean {
    const leftMs = time.untilNextMs();
    if (leftMs === Infinity) return false;
    note('time', `${leftMs} ms pass`);
    time.elapse(leftMs);
    return true;
  }

  /** Until nothing waits for its turn or for the time. Throws when that does not come. */
  async function rest(): Promise<void> {
    for (;;) {
      await quiet();
      const chosen = lanes.choose();
      if (!chosen) {
        if (!wakeNext()) return;
        continue;
      }
      steps += 1;
      if (steps > STEP_LIMIT) throw new Error(`no rest after ${STEP_LIMIT} steps`);
      const task = chosen.tasks.shift();
      if (isTraced && task)
        note(`${chosen.name}${task.process ? ` on ${task.process.name}` : ''}`, task.label());
      task?.release();
    }
  }

  const { lane, step } = lanes;
  const { clock, elapse, now } = time;
  const { calm } = run.faults;
  const effect = createEffect(run);
  return { lane, step, effect, clock, elapse, note, rest, calm, trace, now };
}
