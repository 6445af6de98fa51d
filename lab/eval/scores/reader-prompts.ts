import { z } from 'zod';
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

/** Questions of one prompt: few, so that little of one tells of another. */
export const QUESTIONS_PER_PROMPT = 25;

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
export function readerPrompt({ context, questions }: Omit<Seen, 'method'>): string {
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
export interface Given {
  question: Question;
  given: string;
}

/** Asks a judge. The answer is a JSON array of 0, 0.5 and 1. */
export function judgePrompt(rows: readonly Given[]): string {
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

/** Throws an Error that begins with `place` for anything but `length` strings. */
export function readAnswers(text: string, length: number, place: string): string[] {
  const parsed = z.array(z.string()).length(length).safeParse(jsonIn(text));
  if (!parsed.success) throw notAsked(place, parsed.error);
  return parsed.data;
}

/** Throws an Error that begins with `place` for anything but `length` marks. */
export function readMarks(text: string, length: number, place: string): number[] {
  const mark = z.literal([0, 0.5, 1]);
  const parsed = z.array(mark).length(length).safeParse(jsonIn(text));
  if (!parsed.success) throw notAsked(place, parsed.error);
  return parsed.data;
}

const notAsked = (place: string, error: z.ZodError): Error =>
  new Error(`${place}: not the array that was asked for: ${z.prettifyError(error)}`);
