import type { Clock } from '#shared/ports/ports.ts';
import { never, type Flow, type Timer } from './flow.ts';

const START = new Date('2026-01-02T03:04:05.000Z').getTime();

/** Virtual time, which moves by `elapse` alone; what becomes due waits for its turn. */
export function createTime() {
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
