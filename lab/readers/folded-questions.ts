import type { Recording } from '../eval/replay/recording.ts';

/** A question about turns that are folded, with what a good answer says. */
export interface Question {
  id: string;
  question: string;
  answer: string;
  category: string;
  /** What the answer must say, point by point, where the data set tells. */
  rubric: string[];
}

const rubricOf = (rubric: unknown): string[] =>
  Array.isArray(rubric) ? rubric.filter((point) => typeof point === 'string') : [];

/** `count` of the items, evenly spaced; all of them when there are fewer. */
function evenly<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  const indexes = Array.from({ length: count }, (_, index) =>
    Math.floor((index * items.length) / count),
  );
  return items.filter((_, index) => indexes.includes(index));
}

/**
 * Up to `count` probes of a recording, spread evenly, whose evidence lies before the content `keepFrom`, and those of
 * the category `abstention`, which ask for what was never said. `adversarial` ones have no agreed answer and are left out.
 */
export function foldedQuestions(
  { probes = [] }: Pick<Recording, 'probes'>,
  { keepFrom, count }: { keepFrom: number; count: number },
): Question[] {
  const fitting = probes.flatMap(
    ({ id, question, answer, category = 'none', evidenceTurnIndexes, rubric }) => {
      const evidence = evidenceTurnIndexes ?? [];
      const isFolded = evidence.length > 0 && evidence.every((index) => index < keepFrom);
      if (answer === undefined || answer === null || category === 'adversarial') return [];
      if (!isFolded && category !== 'abstention') return [];
      return [{ id, question, answer: String(answer), category, rubric: rubricOf(rubric) }];
    },
  );
  return evenly(fitting, count);
}
