import type { Finding, Ledger } from './checks/check-transcripts.ts';
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
  /** Entries of lists that were compared with what tablets were told and with their conversations. */
  listed = 0;
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

/** What a run has found. */
export interface ChaosReport {
  minutes: number;
  seed: string;
  ledger: Ledger;
  tally: Tally;
  findings: readonly Finding[];
}

export const isClean = ({ findings, ledger, tally }: ChaosReport): boolean =>
  findings.length + ledger.oddities.length + tally.crashes.length === 0;

/** The figures for a machine; all counts are of distinct messages, generations or conversations. */
export function chaosFigures({ minutes, seed, ledger, tally, findings }: ChaosReport) {
  const count = (wanted: Finding['kind']) => findings.filter(({ kind }) => kind === wanted).length;
  return {
    minutes,
    seed,
    sent: ledger.sent.size,
    acknowledged: ledger.acknowledgedCount,
    lost: count('lost'),
    doubled: count('doubled'),
    mismatched: count('mismatched') + ledger.oddities.length,
    unfinished: count('unfinished'),
    torn: count('torn'),
    leaked: count('leaked'),
    /** Permanent refusals of stored messages. */
    refused: count('refused'),
    inbox: count('inbox'),
    crashes: tally.crashes.length,
    generations: tally.generations,
    kills: tally.kills,
    terminations: tally.terminations,
    searched: tally.searched,
    listed: tally.listed,
    faults: Object.fromEntries(tally.faults),
    actions: Object.fromEntries(tally.actions),
  };
}

const countsOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');

/** The figures for people, with what was found. */
export function describeReport(report: ChaosReport): string {
  const { ledger, tally } = report;
  const figures = chaosFigures(report);
  const { lost, doubled, refused, mismatched, unfinished, torn, leaked, crashes, inbox } = figures;
  const { sought, documents, words } = tally.searched;
  const problems = [
    ...report.findings,
    ...ledger.oddities.map((oddity) => ({ ...oddity, kind: 'odd reply' })),
  ].map(
    ({ kind, what, conversationId, messageId = '' }) =>
      `  ${kind}: ${what} (${conversationId} ${messageId})`,
  );
  return [
    `${figures.sent} messages sent, ${figures.acknowledged} acknowledged, ${figures.generations} generations made`,
    `what phones did and met: ${countsOf(tally.actions)}`,
    `faults survived: ${countsOf(tally.faults)}`,
    `errors in the logs of the functions: ${countsOf(tally.errors)}`,
    `${sought} erased words sought in ${documents} documents with ${words} words`,
    `${tally.listed} conversations compared in the list, on the second devices and by themselves`,
    ...problems,
    ...tally.crashes.map((how) => `  crash: ${how}`),
    `lost ${lost}, doubled ${doubled}, refused for good though stored ${refused}, different ${mismatched}, unfinished ${unfinished}, torn ${torn}, leaked ${leaked}, crashed ${crashes}, inbox ${inbox}`,
  ].join('\n');
}
