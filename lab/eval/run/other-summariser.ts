import { readGivenFile } from '../given-files.ts';
import type { Recording } from '../replay/recording.ts';
import { ArgumentError } from '../replay/replay-arguments.ts';
import { slicesOf, turnsOf, type RecordedTurn } from './eval-turns.ts';

/** A summariser in the place of Recap's. */
export interface OtherSummariser {
  name: string;
  /** Its instruction. */
  system: string;
  /** What it is asked at the end of a history, and there once an earlier summary stands in it; as far as they are given. */
  requests: string[];
}

/** Recap's own, in tables and in the names of its prompts. */
const OWN_NAMES = ['recap', 'ledger'];

/** What a summariser is asked at the end of a history where nothing else is given, without what ends the sentence. */
export const SUMMARY_REQUEST =
  'First, reason in your scratchpad. Then write the summary of all of the above';

/** What a command can do with other summarisers. */
interface Room {
  /** Requests of a file that it asks. */
  requests: number;
  /** Names of its own methods beside Recap's. */
  names?: readonly string[];
}

/**
 * The values of --prompt, NAME=FILE; lines of three dashes divide a file. Throws ArgumentError, also for a name that is
 * taken and for requests that the command does not ask.
 */
export async function readOtherSummarisers(
  prompts: readonly string[],
  room: Room,
): Promise<OtherSummariser[]> {
  const taken = new Set([...OWN_NAMES, ...(room.names ?? [])]);
  const read: OtherSummariser[] = [];
  for (const prompt of prompts) {
    const [, name, path] = /^([\w-]+)=(.+)$/u.exec(prompt) ?? [];
    if (name === undefined || path === undefined)
      throw new ArgumentError(`--prompt takes NAME=FILE, not ${prompt}`);
    if (taken.has(name))
      throw new ArgumentError(`--prompt ${prompt}: the name ${name} is taken, choose another`);
    taken.add(name);
    const text = await readGivenFile('--prompt', path);
    const [system = '', ...requests] = text.split(/^---$/mu).map((part) => part.trim());
    if (requests.length > room.requests)
      throw new ArgumentError(
        `--prompt ${prompt}: ${requests.length} requests stand behind lines ---, and this command asks ${room.requests === 0 ? 'its own' : `at most ${room.requests}`}; take ${room.requests === 0 ? 'them' : 'the others'} out`,
      );
    read.push({ name, system, requests });
  }
  return read;
}

/** What a summariser that reasons first has written behind its reasoning. */
export const withoutScratchpad = (answer: string): string =>
  answer.replaceAll(/<scratchpad>[^]*?<\/scratchpad>/gu, '').trim();

/** What is summarised in one round. */
interface SummaryRound {
  /** From 1. */
  round: number;
  /** The summary so far. */
  before: string | undefined;
  /** Those that Recap folds in this round. */
  turns: readonly RecordedTurn[];
}

/** The summaries of a growing conversation, a round each; fewer where `summarise` has no answer. */
export async function summariseInRounds(
  recording: Recording,
  cut: Parameters<typeof slicesOf>[1],
  summarise: (round: SummaryRound) => Promise<string | undefined>,
): Promise<string[]> {
  const turns = turnsOf(recording);
  const summaries: string[] = [];
  let since = 0;
  for (const [index, { folded }] of slicesOf(turns, cut).entries()) {
    const round = index + 1;
    const before = summaries.at(-1);
    const answer = await summarise({ round, before, turns: turns.slice(since, folded) });
    if (answer === undefined) break;
    summaries.push(withoutScratchpad(answer));
    since = folded;
  }
  return summaries;
}
