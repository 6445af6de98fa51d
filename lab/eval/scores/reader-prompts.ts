import { createHash } from 'node:crypto';
import { z } from 'zod';
import { askAll, type AnswerFolder } from '../answer-folder.ts';
import type { Recording } from '../replay/recording.ts';

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

/** What readers of one method see. */
export interface Seen {
  method: string;
  context: string;
  /** Each with what stands under it alone; '' for nothing. */
  questions: readonly { question: string; beside: string }[];
}

const indented = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => `   > ${line}`)
    .join('\n');

/** Asks a reader who sees nothing else. The answer is a JSON array of strings. */
function readerPrompt({ context, questions }: Omit<Seen, 'method'>): string {
  const from = questions.some(({ beside }) => beside !== '')
    ? 'the CONTEXT and the lines with > directly under that very question, never from those under another question'
    : 'the CONTEXT alone';
  const asked = questions.map(({ question, beside }, index) =>
    [`${index + 1}. ${question}`, ...(beside === '' ? [] : [indented(beside)])].join('\n'),
  );
  return [
    `You continue a conversation of which you see what is left. Answer every question of its user from ${from}, in at most 60 words, mostly far fewer; "unknown" where it does not tell. Write a JSON array of ${questions.length} strings, in order.`,
    `CONTEXT\n${context}`,
    `QUESTIONS\n${asked.join('\n')}`,
  ].join('\n\n');
}

/** An answer to be marked, without a word of whose it is. */
interface Given {
  question: Question;
  given: string;
}

/** Asks a judge. The answer is a JSON array of 0, 0.5 and 1. */
function judgePrompt(rows: readonly Given[]): string {
  const lines = rows.map(({ question: { question, answer, rubric }, given }, index) =>
    [
      `${index + 1}. Q: ${question}`,
      `gold: ${answer}`,
      ...(rubric.length > 0 ? [`must say: ${rubric.join('; ')}`] : []),
      `given: ${given.replaceAll('\n', ' ')}`,
    ].join(' | '),
  );
  return [
    `Mark each given answer: 1 what the gold answer says (other words, more detail or another form of the same date are fine; where gold says that nothing is known, "unknown" is right), 0.5 half of it, 0 wrong or, where gold knows, unknown. Write a JSON array of ${rows.length} numbers, in order.`,
    lines.join('\n'),
  ].join('\n\n');
}

/** The first and last bracket of an answer, and what is between them. */
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1));
  } catch {
    return undefined;
  }
};

/** What a prompt asked for: an array of so many. Throws an Error that begins with `place` for anything else. */
export function readArray<Item>(
  item: z.ZodType<Item>,
  text: string,
  { length, place }: { length: number; place: string },
): Item[] {
  const parsed = z.array(item).length(length).safeParse(jsonIn(text));
  if (parsed.success) return parsed.data;
  const problem = z.prettifyError(parsed.error);
  throw new Error(`${place}: not the array that was asked for: ${problem}`);
}

export const markSchema = z.literal([0, 0.5, 1]);

/** Questions of one prompt: few, so that little of one tells of another. */
const QUESTIONS_PER_PROMPT = 25;
/** Answers of one prompt of the judge. */
const MARKS_PER_PROMPT = 120;

const partsOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, part) =>
    items.slice(part * size, (part + 1) * size),
  );

/** The answers of somebody who sees one context. Throws AnswerMissingError when all prompts are written. */
async function readContext(
  folder: AnswerFolder,
  id: string,
  { method, context, questions }: Seen,
): Promise<string[]> {
  folder.beginConversation({ id, strategy: method.replaceAll(/\W+/gu, '-') });
  const parts = partsOf(questions, QUESTIONS_PER_PROMPT);
  const answers = await askAll(
    parts.map((part, index) => async () => {
      const text = readerPrompt({ context, questions: part });
      const answer = await folder.ask({ kind: 'reader', number: index + 1, text });
      const place = `${id}, ${method}, reader ${index + 1}`;
      return readArray(z.string(), answer, { length: part.length, place });
    }),
  );
  return answers.flat();
}

/** An order that tells nothing of whose answer it is, the same in every run. */
const shuffleKey = (row: Given & { method: string }): string =>
  createHash('sha256').update(`${row.question.id}/${row.given}/${row.method}`).digest('hex');

/** A mark for an answer. */
export interface Mark {
  method: string;
  recordingId: string;
  /** Of the questions of its recording. */
  questionId: string;
  category: string;
  /** 0, 0.5 or 1. */
  mark: number;
}

/**
 * Lets a reader answer from each context, and a judge mark all answers, shuffled. Throws AnswerMissingError when all prompts
 * that can be written are.
 */
export async function readAndJudge(
  folder: AnswerFolder,
  { id, seen, questions }: { id: string; seen: readonly Seen[]; questions: readonly Question[] },
): Promise<Mark[]> {
  const rows = await askAll(
    seen.map((each) => async () => {
      const answers = await readContext(folder, id, each);
      return questions.map((question, index) => ({
        method: each.method,
        question,
        given: answers[index] ?? '',
      }));
    }),
  );
  return judge(folder, id, rows.flat());
}

async function judge(
  folder: AnswerFolder,
  id: string,
  rows: readonly (Given & { method: string })[],
): Promise<Mark[]> {
  folder.beginConversation({ id, strategy: 'all' });
  const shuffled = rows.toSorted((a, b) => (shuffleKey(a) < shuffleKey(b) ? -1 : 1));
  const marks = await askAll(
    partsOf(shuffled, MARKS_PER_PROMPT).map((part, index) => async () => {
      const answer = await folder.ask({
        kind: 'judge',
        number: index + 1,
        text: judgePrompt(part),
      });
      const place = `${id}, judge ${index + 1}`;
      const given = readArray(markSchema, answer, { length: part.length, place });
      return part.map(({ method, question: { id: questionId, category } }, row) => ({
        method,
        recordingId: id,
        questionId,
        category,
        mark: given[row] ?? 0,
      }));
    }),
  );
  return marks.flat();
}
