import type { Content } from '#shared/conversation/documents/content.ts';
import { measureWideShare, snapshotRoom } from '#shared/compaction/ledger/budget/snapshot-room.ts';
import { resolvePolicy } from '#shared/compaction/policy/policy.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import {
  estimateContentTokens,
  estimatePartTokens,
  estimateTextTokens,
} from '#shared/tokens/token-estimate.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import type { EvalBench } from '#lab/eval/run/eval-bench.ts';
import { compactGrowing, type GrowSettings } from '#lab/eval/run/eval-generations.ts';
import type { RecordedTurn } from '#lab/eval/run/eval-turns.ts';
import type { Recording } from '#lab/eval/replay/recording.ts';
import type { CountedCompaction, CountedFile } from './counted-file.ts';

type Model = CompactionDependencies['model'];

const RULE = 'character-class';

interface Heard {
  calls: number;
  promptTokens: number;
  instructionTokens: number;
  outputTokens: number;
}

const weigh = (content: Content): number => estimateContentTokens(content, RULE);
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

function instructionTokens({ systemInstruction = '', responseJsonSchema }: ModelRequest): number {
  const schema = responseJsonSchema === undefined ? '' : JSON.stringify(responseJsonSchema);
  return estimateTextTokens(systemInstruction, RULE) + estimateTextTokens(schema, RULE);
}

/** A model whose calls are added to what was heard last. */
const overheard = (model: Model, last: () => Heard | undefined): Model => ({
  countTokens: (prompt, signal) => model.countTokens(prompt, signal),
  generate: async (request, signal) => {
    const response = await model.generate(request, signal);
    const heard = last();
    if (heard === undefined) throw new Error('a model was called before any compaction');
    const instruction = instructionTokens(request);
    heard.calls += 1;
    heard.instructionTokens += instruction;
    heard.promptTokens += instruction + sum(request.contents.map(weigh));
    heard.outputTokens += sum(response.parts.map((part) => estimatePartTokens(part, RULE)));
    return response;
  },
});

/** Tokens of a turn as `CountedFile` has them: neighbours of one role together, an answer at the end. */
export function turnSizes({ user, contents }: Pick<RecordedTurn, 'user' | 'contents'>): number[] {
  const sizes: number[] = [];
  for (const content of [user, ...contents]) {
    const isAnswer = content.role === 'model';
    const place = sizes.length % 2 === (isAnswer ? 1 : 0) ? sizes.length : sizes.length - 1;
    sizes[place] = (sizes[place] ?? 0) + weigh(content);
  }
  return sizes.length % 2 === 0 ? sizes : [...sizes, 0];
}

/** Compacts a recording as it grows, with what was heard in each compaction. */
async function compactOverheard(bench: EvalBench, wanted: GrowSettings, recording: Recording) {
  const { dependencies } = bench;
  const heard: Heard[] = [];
  const begin = () =>
    heard.push({ calls: 0, promptTokens: 0, instructionTokens: 0, outputTokens: 0 });
  const model = overheard(dependencies.model, () => heard.at(-1));
  const grown = await compactGrowing(
    { ...bench, dependencies: { ...dependencies, model } },
    { ...wanted, beforeEach: begin },
    recording,
  );
  return { ...grown, heard };
}

/** Counts what each compaction of a growing recording that swapped asked of the model. */
export async function countCompactions(
  bench: EvalBench,
  wanted: GrowSettings,
  recording: Recording,
): Promise<Pick<CountedFile, 'compactions' | 'turns'>> {
  const { generations, turns, heard } = await compactOverheard(bench, wanted, recording);
  const policy = resolvePolicy({ model: bench.model, profile: wanted.profile });
  const sizes = turns.map(turnSizes);
  let folded = 0;
  let knownTokens = 0;
  const compactions: CountedCompaction[] = [];
  for (const [index, { history }] of generations.entries()) {
    const calls = heard[index];
    if (history === undefined || calls === undefined) continue;
    const { seq } = history.coveredThrough;
    const foldedTokens = sum(sizes.slice(folded, seq).flat());
    const { roomTokens } = snapshotRoom({
      budgetTokens: wanted.snapshotTokens ?? policy.snapshotBudgetTokens,
      softThresholdTokens: policy.softThresholdTokens,
      foldedTokens,
      foldedTurns: seq - folded,
      coveredTurns: seq,
      previousTokens: knownTokens,
      calibration: 1,
      wideShare: measureWideShare(turns.slice(folded, seq)),
    });
    const snapshotTokens = Math.round(history.snapshotTokens);
    const known = {
      id: recording.id,
      generation: index + 1,
      roomTokens,
      foldedTokens,
      knownTokens,
    };
    compactions.push({ ...known, ...calls, snapshotTokens });
    folded = seq;
    knownTokens = snapshotTokens;
  }
  return { compactions, turns: sizes };
}
