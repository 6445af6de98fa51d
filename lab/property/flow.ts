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
export interface Timer extends Task {
  lane: Lane;
  dueMs: number;
}

/** What nothing comes of any more. */
export const never = new Promise<never>(() => undefined);

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
