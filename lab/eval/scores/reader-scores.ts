import { aligned } from '#infra/text-table.ts';
import type { Mark } from './reader-prompts.ts';

/** What was measured of one conversation. */
export interface Measured {
  /** Of the conversation. */
  id: string;
  /** What a reader may use for a question, on average, by method; the first method is compared with the others. */
  characters: { method: string; characters: number }[];
  marks: Mark[];
}

/** What one method scores. */
interface Score {
  method: string;
  questions: number;
  /** Percent of the marks that there are. */
  score: number;
  /** Of the score, in points. */
  standardError: number;
  /** Points above this one that the first method has, question by question, and the standard error of that. */
  firstIsAhead: { points: number; standardError: number };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

function standardError(values: readonly number[]): number {
  const average = mean(values);
  const variance = mean(values.map((value) => (value - average) ** 2));
  return Math.sqrt(variance / Math.max(1, values.length));
}

/** Two conversations may have a question of the same id. */
const questionKey = ({ recordingId, questionId }: Mark): string =>
  JSON.stringify([recordingId, questionId]);

/** Scores of each method, in the order of the names; the first is compared with the others. */
export function scores(marks: readonly Mark[], methods: readonly string[]): Score[] {
  const first = new Map(
    marks
      .filter(({ method }) => method === methods[0])
      .map((each) => [questionKey(each), each.mark]),
  );
  return methods.map((method) => {
    const mine = marks.filter((each) => each.method === method);
    const values = mine.map(({ mark }) => 100 * mark);
    const ahead = mine.map((each) => 100 * ((first.get(questionKey(each)) ?? 0) - each.mark));
    return {
      method,
      questions: mine.length,
      score: mean(values),
      standardError: standardError(values),
      firstIsAhead: { points: mean(ahead), standardError: standardError(ahead) },
    };
  });
}

/** A line a method, and a column for each category. */
export function scoresTable(measured: readonly Measured[]): string {
  const marks = measured.flatMap((each) => each.marks);
  const sizes = measured.flatMap((each) => each.characters);
  const methods = measured[0]?.characters.map(({ method }) => method) ?? [];
  const categories = [...new Set(marks.map(({ category }) => category))].toSorted();
  const inCategory = (method: string, category: string): number =>
    mean(
      marks
        .filter((each) => each.method === method && each.category === category)
        .map(({ mark }) => 100 * mark),
    );
  const meanSize = (name: string): number =>
    mean(sizes.filter(({ method }) => method === name).map(({ characters }) => characters));
  const ahead = `${methods[0]} is ahead by`;
  const titles = ['method', 'characters', 'questions', 'score', '±', ahead, '±', ...categories];
  const rows = scores(marks, methods).map((score) => [
    score.method,
    meanSize(score.method).toFixed(0),
    String(score.questions),
    score.score.toFixed(1),
    score.standardError.toFixed(1),
    score.firstIsAhead.points.toFixed(1),
    score.firstIsAhead.standardError.toFixed(1),
    ...categories.map((category) => inCategory(score.method, category).toFixed(0)),
  ]);
  return aligned([titles, ...rows]);
}

const publicFigures = ({ id, characters, marks }: Measured) => ({
  id,
  characters: Object.fromEntries(characters.map((size) => [size.method, size.characters])),
  questions: [...Map.groupBy(marks, ({ questionId }) => questionId)]
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([questionId, own]) => ({
      id: questionId,
      category: own[0]?.category,
      marks: Object.fromEntries(own.map(({ method, mark }) => [method, mark])),
    })),
});

/** Sizes by method, and of every question the marks by method, without a word of the conversations. */
export const publicMarks = (measured: readonly Measured[]) => measured.map(publicFigures);
