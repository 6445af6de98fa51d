import { nextTick } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { Clock } from '#shared/ports/ports.ts';
import type { Fault, Flow, Lane, Process, Timer, Turn } from './flow.ts';

/** More steps than any program of a few actors takes: whoever reaches it goes round for ever. */
const STEP_LIMIT = 20_000;

/** How long a stalled request stands still: longer than any lease, so that another takes over. */
const STALL_MS = 5_000;

const START = new Date('2026-01-02T03:04:05.000Z').getTime();

const never = new Promise<never>(() => undefined);

/** Long enough for every promise that can go on to have gone on: ticks come after them all. */
const quiet = () =>
  new Promise<void>((resolve) => {
    nextTick(resolve);
  });

export type Interleaving = ReturnType<typeof createInterleaving>;

/**
 * Runs asynchronous code one step at a time, in the order that `schedule` says; the time is virtual and
 * moves when nothing else can, or by `elapse`. Equal input gives equal runs on a store in memory: nothing
 * here is random and no real timer is waited for. An effect fails as `faults` say.
 */
// oxlint-disable-next-line max-lines-per-function -- one run's state, and what closes over it
export function createInterleaving(plan: {
  schedule: readonly Turn[];
  faults: readonly Fault[];
  isTraced?: boolean;
  /** How long to listen for a watched database, ms, before time moves; default: not at all. */
  listenMs?: number;
}) {
  const lanes: Lane[] = [];
  const timers: Timer[] = [];
  const effects = new Map<string, number>();
  const trace: string[] = [];
  let nowMs = START;
  let nextTurn = 0;
  let current: Lane | undefined;
  let stepsLeft = 0;
  let steps = 0;
  let isCalm = false;
  /** Calls on their way; with a store in memory none is when everything is quiet. */
  const underWay = new Set<Promise<unknown>>();

  const note = (who: string, what: string) => {
    if (plan.isTraced === true) trace.push(`${who}: ${what}`);
  };

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

  function takeFault(process: Process | undefined): Fault['kind'] | undefined {
    if (!process || isCalm) return undefined;
    const count = (effects.get(process.name) ?? 0) + 1;
    effects.set(process.name, count);
    return plan.faults.find((fault) => fault.process === process.name && fault.effect === count)
      ?.kind;
  }

  function die(process: Process | undefined, label: string): Promise<never> {
    note(process?.name ?? '', `dies, ${label}`);
    process?.crash();
    for (const { tasks } of lanes)
      tasks.splice(0, tasks.length, ...tasks.filter((task) => task.process?.isCrashed !== true));
    return never;
  }

  /**
   * One effect on the world outside of a process: it waits for its turn before it happens and before its
   * reply arrives. A fault holds it up, refuses it, loses its reply, or kills the process before or after it.
   */
  async function effect<T>(
    flow: Flow,
    label: () => string,
    act: { apply: () => Promise<T>; failure?: () => Error },
  ): Promise<T> {
    const fault = takeFault(flow.process);
    const failure = act.failure ?? (() => new StoreUnavailableError({ operation: label() }));
    if (fault === 'stall') await clock(flow).wait(STALL_MS);
    await step(flow, label);
    if (fault === 'crashBefore') return die(flow.process, `before: ${label()}`);
    if (fault === 'unavailable') {
      note(flow.lane.name, 'is refused');
      throw failure();
    }
    const applied = act.apply().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    underWay.add(applied);
    const outcome = await applied;
    underWay.delete(applied);
    if (fault === 'crashAfter') return die(flow.process, `after: ${label()}`);
    await step(flow, () => `${'error' in outcome ? 'refused' : 'reply'}: ${label()}`);
    if (fault === 'lostReply') {
      note(flow.lane.name, 'does not hear the reply');
      throw failure();
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  function ring(timer: Timer): void {
    timers.splice(timers.indexOf(timer), 1);
    if (timer.process?.isCrashed !== true) timer.lane.tasks.push(timer);
  }

  /** Time passes for everybody; what becomes due waits for its turn. */
  function elapse(ms: number): void {
    nowMs += ms;
    const due = timers.filter(({ dueMs }) => dueMs <= nowMs);
    for (const timer of due.toSorted((a, b) => a.dueMs - b.dueMs)) ring(timer);
  }

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
          if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
          if (tasks.includes(timer)) tasks.splice(tasks.indexOf(timer), 1);
          resolve();
        };
        timers.push(timer);
        signal?.addEventListener('abort', cancel, { once: true });
      });
    },
  });

  /** The lane whose turn it is: the present one until its steps are used up, then as the schedule says. */
  function chooseLane(): Lane | undefined {
    if (current && stepsLeft > 0 && current.tasks.length > 0) {
      stepsLeft -= 1;
      return current;
    }
    const ready = lanes.filter(({ tasks }) => tasks.length > 0);
    const turn = plan.schedule[nextTurn];
    if (ready.length > 1) nextTurn += 1;
    current = ready[(turn?.lane ?? 0) % Math.max(1, ready.length)];
    stepsLeft = (turn?.steps ?? Infinity) - 1;
    return current;
  }

  function wakeNext(): boolean {
    for (const timer of timers.filter(({ process }) => process?.isCrashed === true))
      timers.splice(timers.indexOf(timer), 1);
    const dueMs = Math.min(...timers.map((timer) => timer.dueMs));
    if (dueMs === Infinity) return false;
    note('time', `${dueMs - nowMs} ms pass`);
    elapse(dueMs - nowMs);
    return true;
  }

  /** Whether a database outside of this process has told something to somebody. */
  async function isSomethingHeard(): Promise<boolean> {
    if (plan.listenMs === undefined) return false;
    await delay(plan.listenMs);
    return underWay.size > 0 || lanes.some(({ tasks }) => tasks.length > 0);
  }

  /** Until nothing waits for its turn or for the time. Throws when that does not come. */
  async function rest(): Promise<void> {
    for (;;) {
      await quiet();
      const chosen = chooseLane();
      if (!chosen) {
        if (underWay.size > 0) await Promise.race(underWay);
        else if (!(await isSomethingHeard()) && !wakeNext()) return;
        continue;
      }
      steps += 1;
      if (steps > STEP_LIMIT) throw new Error(`no rest after ${STEP_LIMIT} steps`);
      const task = chosen.tasks.shift();
      if (plan.isTraced === true && task)
        note(`${chosen.name}${task.process ? ` on ${task.process.name}` : ''}`, task.label());
      task?.release();
    }
  }

  return {
    lane,
    step,
    effect,
    clock,
    elapse,
    note,
    rest,
    /** From here on nothing fails any more. */
    calm: () => {
      isCalm = true;
    },
    trace,
    now: () => new Date(nowMs),
    steps: () => steps,
  };
}
