import { z } from 'zod';
import { contentText } from '#shared/conversation/documents/content.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing, type GrowSettings } from '../eval/run/eval-generations.ts';
import type { Recording } from '../eval/replay/recording.ts';
import { compareStatements, rewordedIn, statementsIn, type HarmFigures } from './harm-figures.ts';

/** One compaction, and what it did to the answers of the model. */
export interface HarmedGeneration
  extends
    Pick<HarmFigures, 'statements' | 'kept'>,
    Partial<Omit<HarmFigures, 'statements' | 'kept'>> {
  id: string;
  /** From 1. */
  generation: number;
  state: string;
  /** Of a refusal. */
  reason?: string;
  calls: number;
  snapshotTokens?: number;
  /** Values of it that nobody was found to have said. */
  marked?: number;
  /** Updates that only reword what is known. */
  reworded?: number;
}

const reportSchema = z.looseObject({ markedCount: z.number() });

/** Values that the report of a compaction names as said by nobody; 0 where it tells of none. */
const markedIn = (report: unknown): number => {
  const read = reportSchema.safeParse(report);
  return read.success ? read.data.markedCount : 0;
};

type Model = CompactionDependencies['model'];

/** A model whose answers are heard. */
const overheard = (model: Model, hear: (answer: string) => void): Model => ({
  countTokens: (prompt, signal) => model.countTokens(prompt, signal),
  generate: async (request, signal) => {
    const response = await model.generate(request, signal);
    hear(contentText({ role: 'model', parts: response.parts }));
    return response;
  },
});

/** Compacts a recording as it grows, and compares each snapshot with what the model wrote for it. */
export async function measureHarm(
  bench: EvalBench,
  wanted: GrowSettings,
  recording: Recording,
): Promise<HarmedGeneration[]> {
  const { dependencies } = bench;
  const answers: string[][] = [];
  const model = overheard(dependencies.model, (answer) => answers.at(-1)?.push(answer));
  const { generations } = await compactGrowing(
    { ...bench, dependencies: { ...dependencies, model } },
    { ...wanted, beforeEach: () => answers.push([]) },
    recording,
  );
  return generations.flatMap(({ state, reason, history, modelCalls }, index) => {
    if (state === 'WAITING') return [];
    const given = answers[index] ?? [];
    const statements = given.flatMap(statementsIn);
    const previous = generations[index - 1]?.history?.snapshot ?? undefined;
    const figures =
      history === undefined
        ? { statements: statements.length, kept: 0 }
        : {
            ...compareStatements(statements, {
              snapshotText: history.snapshotText,
              archive: history.snapshot?.archive ?? [],
            }),
            snapshotTokens: history.snapshotTokens,
            marked: markedIn(history.report),
            reworded: given.reduce((sum, answer) => sum + rewordedIn(answer, previous), 0),
          };
    return {
      id: recording.id,
      generation: index + 1,
      state,
      ...(reason !== undefined && { reason }),
      ...figures,
      calls: modelCalls,
    };
  });
}
