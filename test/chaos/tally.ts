import type { EntryMessage } from './entry-settings.ts';

/** A generation that two workers have made: the fence did not hold. */
export interface DoubledGeneration {
  conversationId: string;
  generation: number;
}

/** What happened to the functions during a run. */
export class Tally {
  readonly faults = new Map<string, number>();
  /** Ends of a process that nobody had asked for. */
  readonly crashes: string[] = [];
  readonly doubledGenerations: DoubledGeneration[] = [];
  /** Log entries of severity ERROR by event and reason. */
  readonly errors = new Map<string, number>();
  kills = 0;
  generations = 0;
  readonly #makers = new Map<string, string>();
  readonly #highest = new Map<string, number>();

  countFault(name: string): void {
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
  }

  readonly hear = (message: EntryMessage): void => {
    if (message.kind === 'fault') {
      this.countFault(message.name);
      return;
    }
    const { conversationId, generation, by } = message;
    const key = `${conversationId}/${generation}`;
    const maker = this.#makers.get(key);
    if (maker !== undefined && maker !== by)
      this.doubledGenerations.push({ conversationId, generation });
    this.generations += 1;
    this.#makers.set(key, by);
    this.#highest.set(conversationId, Math.max(generation, this.#highest.get(conversationId) ?? 0));
  };

  readonly readLine = (line: string): void => {
    if (!line.includes('"severity":"ERROR"')) return;
    const event = /"event":"([^"]+)"/.exec(line)?.[1] ?? 'without a name';
    const reason = /"reason":"([^"]+)"/.exec(line)?.[1];
    const name = reason === undefined ? event : `${event}: ${reason}`;
    this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
  };

  /** The highest generation that a worker was told it had made. */
  highestGeneration(conversationId: string): number {
    return this.#highest.get(conversationId) ?? 0;
  }
}
