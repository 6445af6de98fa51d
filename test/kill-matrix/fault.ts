import { compactionCrashPoints } from '#functions/lib/crash-points.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { Lane, Process } from '#lab/property/flow.ts';

/**
 * What befalls a server process when it comes to a crash point: an error; death; the commit that follows
 * reaches the database later than anybody waits, and until then the process stands still; it is refused; it is
 * applied, and its reply is lost.
 */
export type Column = 'throw' | 'killed' | 'late commit' | 'commit refused' | 'reply lost';

export interface Fault {
  column: Column;
  point: string;
  /** For a refusal or a lost reply: which of the process's commits it befalls, from 1. */
  commit?: number | undefined;
}

/** Where a victim passed a point for the first time. */
export interface Passing {
  server: string;
  /** Commits that this process had made by then. */
  commitsBefore: number;
}

/** The processes that a fault can befall; others take over from them. */
const VICTIMS: ReadonlySet<string> = new Set(['chat-0', 'worker-0']);

/** The process that passes a point. */
const victimOf = (point: string) => (point in compactionCrashPoints ? 'worker-0' : 'chat-0');

/** Whether an error was thrown at a crash point by a test of this directory. */
export const isInjected = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message.startsWith('died at ') || (error.cause !== undefined && isInjected(error.cause)));

/** One fault of one process, once; without a fault it only counts what passes by. */
export class Outage {
  readonly passings = new Map<string, Passing>();
  readonly #fault: Fault | undefined;
  readonly #lanes = new Set<Lane>();
  readonly #commits = new Map<string, number>();
  readonly #thawed = Promise.withResolvers<void>();
  #frozen: Process | undefined;
  /** Its next commit is late. */
  #late: Process | undefined;
  #isOver: boolean;

  constructor(fault: Fault | undefined) {
    this.#fault = fault;
    this.#isOver = fault === undefined;
  }

  /** Whether the fault has happened. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Where work of processes waits for its turn. */
  knowLane(lane: Lane): void {
    this.#lanes.add(lane);
  }

  commitsOf(server: string): number {
    return this.#commits.get(server) ?? 0;
  }

  async atCrashPoint(process: Process, point: string): Promise<void> {
    if (!VICTIMS.has(process.name)) return;
    const commitsBefore = this.commitsOf(process.name);
    if (!this.passings.has(point))
      this.passings.set(point, { server: process.name, commitsBefore });
    if (this.#isOver || this.#fault?.point !== point) return;
    switch (this.#fault.column) {
      case 'commit refused':
      case 'reply lost':
        return;
      case 'late commit':
        this.#late ??= process;
        return;
      case 'throw':
        this.#isOver = true;
        throw new Error(`died at ${point}`);
      case 'killed':
        this.#isOver = true;
        return this.#kill(process);
    }
  }

  /** A process that stands still does nothing and hears nothing. */
  async gated<T>(process: Process, work: () => Promise<T>): Promise<T> {
    if (process === this.#frozen) await this.#thawed.promise;
    try {
      return await work();
    } finally {
      if (process === this.#frozen) await this.#thawed.promise;
    }
  }

  /** A commit: it may be late or refused, and its reply may be lost. Throws StoreUnavailableError. */
  async commit<T>(process: Process, work: () => Promise<T>): Promise<T> {
    if (this.#late === process && !this.#isOver) {
      this.#isOver = true;
      this.#frozen = process;
    }
    return this.gated(process, async () => {
      const count = this.commitsOf(process.name) + 1;
      this.#failIfMeant('commit refused', process, count);
      const result = await work();
      this.#commits.set(process.name, count);
      this.#failIfMeant('reply lost', process, count);
      return result;
    });
  }

  /** What stood still goes on. */
  thaw(): void {
    this.#frozen = undefined;
    this.#thawed.resolve();
  }

  #failIfMeant(column: Column, { name }: Process, count: number): void {
    if (this.#isOver || this.#fault?.column !== column) return;
    if (this.#fault.commit !== count || name !== victimOf(this.#fault.point)) return;
    this.#isOver = true;
    throw new StoreUnavailableError({ operation: `commit ${count}: ${column}` });
  }

  #kill(process: Process): Promise<never> {
    process.crash();
    for (const { tasks } of this.#lanes)
      tasks.splice(0, tasks.length, ...tasks.filter((task) => task.process !== process));
    return new Promise(() => undefined);
  }
}
