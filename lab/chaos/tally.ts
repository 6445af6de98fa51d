import type { EntryMessage } from './function-process.ts';
import { canariesIn } from './phones/message-text.ts';

/** Characters of a log entry that a report shows. */
const LEAK_SHOWN = 300;

/** A generation that two workers have made: the fence did not hold. */
interface DoubledGeneration {
  conversationId: string;
  generation: number;
}

/** What happened to the functions during a run. */
export class Tally {
  readonly faults = new Map<string, number>();
  /** What phones did, and what they met. */
  readonly actions = new Map<string, number>();
  /** Log entries that hold words of messages or answers. */
  readonly leaks: string[] = [];
  /** Ends of a process that nobody had asked for. */
  readonly crashes: string[] = [];
  readonly doubledGenerations: DoubledGeneration[] = [];
  /** Log entries of severity ERROR by event and reason. */
  readonly errors = new Map<string, number>();
  /** Of the search for what was erased: documents read, words of messages found in them, words sought. */
  searched = { documents: 0, words: 0, sought: 0 };
  /** SIGKILL. */
  kills = 0;
  /** SIGTERM. */
  terminations = 0;
  generations = 0;
  readonly #makers = new Map<string, string>();
  readonly #highest = new Map<string, number>();

  countFault(name: string): void {
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
  }

  readonly countAction = (name: string): void => {
    this.actions.set(name, (this.actions.get(name) ?? 0) + 1);
  };

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
    const [leaked] = canariesIn(line);
    if (leaked !== undefined) this.leaks.push(line.slice(0, LEAK_SHOWN));
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
