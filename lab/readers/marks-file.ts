import { z } from 'zod';
import { ArgumentError } from '../eval/replay/replay-arguments.ts';
import type { Mark } from './read-and-judge.ts';

/** What was measured of one conversation. */
export interface Measured {
  /** Of the conversation. */
  id: string;
  /** What a reader may use for a question, on average, by method; the first method is compared with the others. */
  characters: { method: string; characters: number }[];
  marks: Mark[];
}

const fileSchema = z.array(
  z.object({
    id: z.string(),
    characters: z.record(z.string(), z.number()),
    questions: z.array(
      z.object({
        id: z.string(),
        category: z.string(),
        marks: z.record(z.string(), z.literal([0, 0.5, 1])),
      }),
    ),
  }),
);

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
export const marksText = (measured: readonly Measured[]): string =>
  `${JSON.stringify(measured.map(publicFigures), undefined, 2)}\n`;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What `marksText` has written. Throws ArgumentError for anything else. */
export function parseMarks(path: string, text: string): Measured[] {
  const parsed = fileSchema.safeParse(jsonOf(text));
  if (!parsed.success)
    throw new ArgumentError(`--marks ${path} holds no marks: ${z.prettifyError(parsed.error)}`);
  return parsed.data.map(({ id, characters, questions }) => ({
    id,
    characters: Object.entries(characters).map(([method, size]) => ({ method, characters: size })),
    marks: questions.flatMap((question) =>
      Object.entries(question.marks).map(([method, mark]) => ({
        method,
        recordingId: id,
        questionId: question.id,
        category: question.category,
        mark,
      })),
    ),
  }));
}
