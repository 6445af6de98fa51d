import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { readAnswer } from '#shared/compaction/operations.ts';
import { findValues } from '#shared/compaction/values.ts';
import { contentText } from '#shared/models/content.ts';
import { workingItems, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { textKey } from '#shared/text/cut.ts';
import type { EvalBench } from '../compact/bench.ts';
import { compactGrowing, markedIn } from '../compact/compact-recording.ts';
import type { CompactionSettings } from '../eval-settings.ts';
import type { Recording } from '../replay/recording.ts';
import { onBench, tableOf, wantedRecordings, type Scorer } from '../scorer.ts';
import { z } from 'zod';

const stopWords = new Set(
  'a an the and or of to in on at for with from by as is are was were be it its this that i you he she they we his her their our my your not no'.split(
    ' ',
  ),
);
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The words that say something, in lower case; of Chinese and Japanese each character. */
function contentWords(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .flatMap((word) => (wide.test(word) ? Array.from(word) : [word]))
    .filter((word) => !stopWords.has(word));
}

const addedLine = /^- (?:User|Shown by the user): "/u;

/** Lines of a rendered snapshot that no model writes: words of users. Tool: "…" only says whose the words of a model are. */
const linesAdded = (snapshotText: string): string[] =>
  snapshotText.split('\n').filter((line) => addedLine.test(line));

const statementSchema = z.looseObject({ text: z.string() });
const answerSchema = z.looseObject({
  operations: z.array(
    z.looseObject({ text: z.string().optional(), items: z.array(statementSchema).optional() }),
  ),
});

/** The statements of an answer in the form of a ledger; none of one that cannot be read. */
function statementsIn(answer: string): string[] {
  try {
    const { operations } = answerSchema.parse(JSON.parse(answer));
    return operations.flatMap(
      ({ text, items }) => items?.map((item) => item.text) ?? (text ? [text] : []),
    );
  } catch {
    return [];
  }
}

/** So many characters more tell nothing new. */
const REWORDING_CHARACTERS = 20;

/** Whether words for an item say no more than it said: no value that it lacked, and hardly longer. */
function saysNoMore(before: string, after: string): boolean {
  if (textKey(before) === textKey(after)) return false;
  if (after.length > before.length + REWORDING_CHARACTERS) return false;
  const known = new Set(findValues(before).flatMap(({ readings }) => readings));
  return findValues(after).every(({ readings }) => readings.some((reading) => known.has(reading)));
}

/** How many updates of an answer only reword what is known, as models do where they are short of room. */
export function rewordedIn(answer: string, previous: Snapshot | undefined): number {
  const read = readAnswer(answer);
  if (!read.ok || previous === undefined) return 0;
  const known = new Map(workingItems(previous).map(({ id, text }) => [id, text]));
  return read.operations.filter((operation) => {
    if (operation.op !== 'update') return false;
    const before = known.get(operation.id);
    return before !== undefined && saysNoMore(before, operation.text);
  }).length;
}

const thousandths = (share: number): number => Number(share.toFixed(3));

/**
 * Compares what a model stated with the snapshot that came of it, and with what lies in its archive. `kept`: share of its
 * words and figures that stand there; `added`: share of the snapshot's characters that code put there; in thousandths.
 */
export function compareStatements(
  statements: readonly string[],
  { snapshotText, archive = [] }: { snapshotText: string; archive?: readonly { text: string }[] },
) {
  const standing = new Set(
    [snapshotText, ...archive.map(({ text }) => text)].flatMap(contentWords),
  );
  const words = statements.flatMap(contentWords);
  const gone = words.filter((word) => !standing.has(word)).length;
  const lines = linesAdded(snapshotText);
  return {
    statements: statements.length,
    kept: thousandths(1 - gone / Math.max(1, words.length)),
    added: thousandths(lines.join('\n').length / snapshotText.length),
    addedLines: lines.length,
  };
}

const mean = (values: readonly number[]): number =>
  thousandths(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));

/** Means of all generations; a refused one has kept nothing, and nothing added. */
export function summarise(generations: readonly { kept: number; added?: number | undefined }[]) {
  const added = generations.flatMap((generation) => generation.added ?? []);
  return {
    refused: generations.length - added.length,
    kept: mean(generations.map(({ kept }) => kept)),
    added: mean(added),
  };
}

/** One compaction, and what it did to the answers of the model. */
interface HarmedGeneration extends Partial<ReturnType<typeof compareStatements>> {
  id: string;
  /** From 1. */
  generation: number;
  state: string;
  /** Of a refusal. */
  reason?: string;
  statements: number;
  kept: number;
  calls: number;
  snapshotTokens?: number;
  /** Values of it that nobody was found to have said. */
  marked?: number;
  /** Updates that only reword what is known. */
  reworded?: number;
}

type Model = WorkerDependencies['model'];

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
async function measureHarm(
  bench: EvalBench,
  wanted: CompactionSettings,
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
            marked: markedIn(history),
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

/** What verification did to the answers of a model. */
export const scoreHarm: Scorer = async (settings, files) => {
  const generations: HarmedGeneration[] = [];
  const recordings = wantedRecordings(settings, files);
  await onBench(settings, 'recap', async (bench) => {
    // A conversation that waits in its second generation has figures of the first.
    for (const recording of recordings)
      generations.push(...(await measureHarm(bench, settings, recording)));
  });
  const { refused, kept, added } = summarise(generations);
  return {
    text: [
      tableOf(generations),
      `${generations.length} generations, ${refused} refused; in the mean kept ${kept}, added ${added}`,
    ].join('\n'),
    figures: { generations },
    isGood: true,
  };
};
