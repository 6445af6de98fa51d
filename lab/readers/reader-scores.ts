import { aligned } from '#infra/text-table.ts';
import type { Mark } from './read-and-judge.ts';

/** What one method scores. */
interface Score {
  method: string;
  questions: number;
  /** Percent of the marks that there are. */
  score: number;
  /** Of the score, in points. */
  standardError: number;
  /** Points below the last method, question by question, and the standard error of that. */
  behindCeiling: { points: number; standardError: number };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

function standardError(values: readonly number[]): number {
  const average = mean(values);
  const variance = mean(values.map((value) => (value - average) ** 2));
  return Math.sqrt(variance / Math.max(1, values.length));
}

/** Scores of each method, in the order of the names; the last is what the others are compared with. */
export function scores(marks: readonly Mark[], methods: readonly string[]): Score[] {
  const ceiling = new Map(
    marks
      .filter(({ method }) => method === methods.at(-1))
      .map(({ questionId, mark }) => [questionId, mark]),
  );
  return methods.map((method) => {
    const mine = marks.filter((each) => each.method === method);
    const values = mine.map(({ mark }) => 100 * mark);
    const behind = mine.map(
      ({ questionId, mark }) => 100 * ((ceiling.get(questionId) ?? 0) - mark),
    );
    return {
      method,
      questions: mine.length,
      score: mean(values),
      standardError: standardError(values),
      behindCeiling: { points: mean(behind), standardError: standardError(behind) },
    };
  });
}

/** A line a method, with the mean size of what its readers saw, and a column for each category. */
export function scoresTable(
  marks: readonly Mark[],
  { methods, characters }: { methods: readonly string[]; characters: ReadonlyMap<string, number> },
): string {
  const categories = [...new Set(marks.map(({ category }) => category))].toSorted();
  const titles = ['method', 'characters', 'questions', 'score', '±', 'behind', '±', ...categories];
  const rows = scores(marks, methods).map(
    ({ method, questions, score, standardError: error, behindCeiling }) => [
      method,
      String(Math.round(characters.get(method) ?? 0)),
      String(questions),
      score.toFixed(1),
      error.toFixed(1),
      behindCeiling.points.toFixed(1),
      behindCeiling.standardError.toFixed(1),
      ...categories.map((category) =>
        (
          100 *
          mean(
            marks
              .filter((each) => each.method === method && each.category === category)
              .map(({ mark }) => mark),
          )
        ).toFixed(0),
      ),
    ],
  );
  return aligned([titles, ...rows]);
}
