import { z } from 'zod';
import { readAnswer } from '#shared/compaction/operations.ts';
import { findValues } from '#shared/compaction/values.ts';
import { workingItems, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { textKey } from '#shared/text/one-line.ts';

/** What became of what a model wrote for one compaction. */
export interface HarmFigures {
  /** That its answers state. */
  statements: number;
  /** Share of their words and figures that stand in the snapshot or in its archive, in thousandths. */
  kept: number;
  /** Share of the snapshot's characters that code put there, in thousandths. */
  added: number;
  addedLines: number;
}

const stopWords = new Set(
  'a an the and or of to in on at for with from by as is are was were be it its this that i you he she they we his her their our my your not no'.split(
    ' ',
  ),
);
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The words that say something, in lower case; of Chinese and Japanese each character. */
export function contentWords(text: string): string[] {
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
export const linesAdded = (snapshotText: string): string[] =>
  snapshotText.split('\n').filter((line) => addedLine.test(line));

const statementSchema = z.looseObject({ text: z.string() });
const answerSchema = z.looseObject({
  operations: z.array(
    z.looseObject({ text: z.string().optional(), items: z.array(statementSchema).optional() }),
  ),
});

/** The statements of an answer in the form of a ledger; none of one that cannot be read. */
export function statementsIn(answer: string): string[] {
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

/** Compares what a model stated with the snapshot that came of it, and with what lies in its archive. */
export function compareStatements(
  statements: readonly string[],
  { snapshotText, archive = [] }: { snapshotText: string; archive?: readonly { text: string }[] },
): HarmFigures {
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

/** All generations together. */
interface HarmSummary {
  generations: number;
  refused: number;
  /** Mean; a refused generation has kept nothing. */
  kept: number;
  /** Mean of those that swapped. */
  added: number;
}

const mean = (values: readonly number[]): number =>
  thousandths(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));

/** Sums up generations; `added` is absent where one was refused. */
export function summarise(generations: readonly { kept: number; added?: number }[]): HarmSummary {
  const added = generations.flatMap((generation) => generation.added ?? []);
  return {
    generations: generations.length,
    refused: generations.length - added.length,
    kept: mean(generations.map(({ kept }) => kept)),
    added: mean(added),
  };
}
