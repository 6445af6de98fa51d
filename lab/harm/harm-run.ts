import { contentText } from '#shared/conversation/documents/content.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing, type GrowSettings } from '../eval/run/eval-generations.ts';
import type { Recording } from '../eval/replay/recording.ts';
import { compareStatements, statementsIn, type HarmFigures } from './harm-figures.ts';

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
}

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
    const statements = (answers[index] ?? []).flatMap(statementsIn);
    const figures =
      history === undefined
        ? { statements: statements.length, kept: 0 }
        : {
            ...compareStatements(statements, history.snapshotText),
            snapshotTokens: history.snapshotTokens,
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
