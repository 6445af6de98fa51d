import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { EvalResult } from '../eval/run/eval-run.ts';
import type { Recording } from '../eval/replay/recording.ts';

const survivalSchema = z.looseObject({
  carried: z.number(),
  inventedRate: z.number(),
  snapshotTokens: z.number(),
});
const probeSurvivalSchema = z.looseObject({
  conversation: z.looseObject({ n: z.number(), normalised: z.number().nullable() }),
});

/** What the module of `--measure` exports; it measures without anything of ours. */
interface MeasureModule {
  survival(turns: unknown, keepFrom: number, snapshot: string): unknown;
  probeSurvival(
    turns: unknown,
    probes: unknown,
    keepFrom: number,
    snapshot: string,
    options: { other?: Standing },
  ): unknown;
}

interface Standing {
  turns: Recording['turns'];
  keepFrom: number;
  snapshot: string;
}

/** One conversation after its compactions; all of it absent where the last one failed. */
interface Score {
  /** Share of the folded facts that only the snapshot can carry, and that it does. */
  carried?: number;
  /** Of the questions to the folded part, what can be answered beyond what another conversation answers. */
  answered?: number;
  /** Share of the numbers, dates, links and ids of the snapshot that nobody said. */
  invented?: number;
  snapshotTokens?: number;
}

const isMeasure = (module: unknown): module is MeasureModule =>
  typeof module === 'object' &&
  module !== null &&
  'survival' in module &&
  'probeSurvival' in module;

/** Throws an Error where the module does not export `survival` and `probeSurvival`. */
export async function loadMeasure(path: string): Promise<MeasureModule> {
  const module: unknown = await import(pathToFileURL(path).href);
  if (!isMeasure(module))
    throw new Error(`${path} must export survival(turns, keepFrom, snapshot) and probeSurvival`);
  return module;
}

const standingOf = (recording: Recording, result: EvalResult | undefined): Standing | undefined =>
  result?.keepFrom === undefined || result.snapshot === undefined
    ? undefined
    : { turns: recording.turns, keepFrom: result.keepFrom, snapshot: result.snapshot };

/** Scores conversations that were compacted alike: each is the noise floor of the one before. */
export function scoresOf(
  module: MeasureModule,
  recordings: readonly Recording[],
  results: readonly EvalResult[],
): Score[] {
  const standings = recordings.map((recording, index) => standingOf(recording, results[index]));
  return recordings.map(({ probes = [] }, index) => {
    const standing = standings[index];
    if (standing === undefined) return {};
    const { turns, keepFrom, snapshot } = standing;
    const facts = survivalSchema.parse(module.survival(turns, keepFrom, snapshot));
    const other = standings[(index + 1) % standings.length];
    const noise = other === undefined || other === standing ? {} : { other };
    const { conversation } = probeSurvivalSchema.parse(
      module.probeSurvival(turns, probes, keepFrom, snapshot, noise),
    );
    return {
      carried: facts.carried,
      invented: facts.inventedRate,
      snapshotTokens: facts.snapshotTokens,
      ...(conversation.normalised !== null && { answered: conversation.normalised }),
    };
  });
}

/** The mean of those that have a figure; undefined where none has. */
export function meanOf(scores: readonly Score[], key: keyof Score): number | undefined {
  const values = scores.flatMap((score) => score[key] ?? []);
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
