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

const hasOwnIds = (items: readonly { id: string }[]): boolean =>
  new Set(items.map(({ id }) => id)).size === items.length;
const twice = 'two have the same id';

/** A text that is a number would be moved before all others as a key of an object. */
const methodName = z.string().regex(/\D/, 'a method is named by more than figures');

const conversationSchema = z
  .object({
    id: z.string(),
    characters: z.record(methodName, z.number().nonnegative()),
    questions: z
      .array(
        z.object({
          id: z.string(),
          category: z.string(),
          marks: z.record(z.string(), z.literal([0, 0.5, 1])),
        }),
      )
      .min(1)
      .refine(hasOwnIds, twice),
  })
  .refine(
    ({ characters, questions }) => questions.every(({ marks }) => haveSameKeys(characters, marks)),
    'each question has a mark for each method in `characters`, and for no other',
  );

const haveSameKeys = (one: object, other: object): boolean =>
  Object.keys(one).toSorted().join('\n') === Object.keys(other).toSorted().join('\n');

const fileSchema = z
  .array(conversationSchema)
  .min(1)
  .refine(hasOwnIds, twice)
  .refine(
    (all) => all.every(({ characters }) => haveSameKeys(characters, all[0]?.characters ?? {})),
    'all conversations have the same methods',
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

function jsonOf(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ArgumentError(`--marks ${path} is no JSON; give a file that --json has written`, {
      cause,
    });
  }
}

/** What `marksText` has written. Throws ArgumentError for anything else. */
export function parseMarks(path: string, text: string): Measured[] {
  const parsed = fileSchema.safeParse(jsonOf(path, text));
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    const place = first?.path.join('.') ?? '';
    throw new ArgumentError(
      `--marks ${path} holds no marks as --json writes them: ${first?.message}${place === '' ? '' : `, at ${place}`}`,
    );
  }
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
