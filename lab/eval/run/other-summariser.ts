import { readGivenFile } from '../replay/read-recordings.ts';
import type { Recording } from '../replay/recording.ts';
import { ArgumentError } from '../replay/replay-arguments.ts';
import { slicesOf, turnsOf, type RecordedTurn } from './eval-turns.ts';

/** A summariser in the place of Recap's. */
export interface OtherSummariser {
  name: string;
  /** Its instruction. */
  system: string;
  /** What it is asked at the end of a history; absent: the file tells nothing of it. */
  request?: string;
  /** The same once an earlier summary stands in the history. */
  laterRequest?: string;
}

/** The values of --prompt, NAME=FILE; lines of three dashes divide a file. Throws ArgumentError. */
export const readOtherSummarisers = (prompts: readonly string[]): Promise<OtherSummariser[]> =>
  Promise.all(
    prompts.map(async (prompt) => {
      const [, name, path] = /^([\w-]+)=(.+)$/u.exec(prompt) ?? [];
      if (name === undefined || path === undefined)
        throw new ArgumentError(`--prompt takes NAME=FILE, not ${prompt}`);
      const text = await readGivenFile('--prompt', path);
      const [system = '', request, laterRequest = request] = text
        .split(/^---$/mu)
        .map((part) => part.trim());
      return {
        name,
        system,
        ...(request !== undefined && { request }),
        ...(laterRequest !== undefined && { laterRequest }),
      };
    }),
  );

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
