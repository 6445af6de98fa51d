import { createHash } from 'node:crypto';
import type { AnswerFolder } from '../eval/answers/answer-folder.ts';
import { AnswerMissing, asksFolder } from '../eval/answers/ask-folder.ts';
import type { LeftContext } from './contexts.ts';
import type { Question } from './folded-questions.ts';
import {
  judgePrompt,
  QUESTIONS_PER_PROMPT,
  readAnswers,
  readerPrompt,
  readMarks,
  type Given,
} from './reader-prompts.ts';

/** Answers of one prompt of the judge. */
const MARKS_PER_PROMPT = 120;

const partsOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, part) =>
    items.slice(part * size, (part + 1) * size),
  );

/** The answers of somebody who sees one context. Throws AnswerMissing when all prompts are written. */
async function readContext(
  folder: AnswerFolder,
  { method, text: context, beside }: LeftContext,
  { id, questions }: { id: string; questions: readonly Question[] },
): Promise<string[]> {
  const ask = asksFolder(folder);
  const answers: string[] = [];
  let isMissing = false;
  for (const [index, part] of partsOf(questions, QUESTIONS_PER_PROMPT).entries()) {
    const asked = [];
    for (const { question } of part) asked.push({ question, beside: await beside(question) });
    try {
      const text = readerPrompt({ context, questions: asked });
      const given = await ask({ kind: 'reader', number: index + 1, text });
      answers.push(...readAnswers(given, part.length, `${id}, ${method}, reader ${index + 1}`));
    } catch (error) {
      if (!(error instanceof AnswerMissing)) throw error;
      isMissing = true;
    }
  }
  if (isMissing) throw new AnswerMissing();
  return answers;
}

/** An order that tells nothing of whose answer it is, the same in every run. */
const shuffleKey = (row: Given & { method: string }): string =>
  createHash('sha256').update(`${row.question.id}/${row.given}/${row.method}`).digest('hex');

/** A mark for an answer. */
export interface Mark {
  method: string;
  questionId: string;
  category: string;
  /** 0, 0.5 or 1. */
  mark: number;
}

/**
 * Lets a reader answer from each context, and a judge mark all answers, shuffled. Throws AnswerMissing when all prompts
 * that can be written are.
 */
export async function readAndJudge(
  folder: AnswerFolder,
  { id, contexts, questions }: { id: string; contexts: LeftContext[]; questions: Question[] },
): Promise<Mark[]> {
  const rows: (Given & { method: string })[] = [];
  let isMissing = false;
  for (const context of contexts) {
    const { method } = context;
    folder.beginConversation({ id, strategy: method.replaceAll(/\W+/gu, '-') });
    try {
      const answers = await readContext(folder, context, { id, questions });
      for (const [index, question] of questions.entries())
        rows.push({ method, question, given: answers[index] ?? '' });
    } catch (error) {
      if (!(error instanceof AnswerMissing)) throw error;
      isMissing = true;
    }
  }
  if (isMissing) throw new AnswerMissing();
  return judge(folder, id, rows);
}

async function judge(
  folder: AnswerFolder,
  id: string,
  rows: readonly (Given & { method: string })[],
): Promise<Mark[]> {
  folder.beginConversation({ id, strategy: 'all' });
  const shuffled = rows.toSorted((a, b) => (shuffleKey(a) < shuffleKey(b) ? -1 : 1));
  const marks: Mark[] = [];
  let isMissing = false;
  for (const [index, part] of partsOf(shuffled, MARKS_PER_PROMPT).entries()) {
    try {
      const prompt = { kind: 'judge' as const, number: index + 1, text: judgePrompt(part) };
      const answer = await asksFolder(folder)(prompt);
      const given = readMarks(answer, part.length, `${id}, judge ${index + 1}`);
      for (const [row, { method, question }] of part.entries())
        marks.push({
          method,
          questionId: question.id,
          category: question.category,
          mark: given[row] ?? 0,
        });
    } catch (error) {
      if (!(error instanceof AnswerMissing)) throw error;
      isMissing = true;
    }
  }
  if (isMissing) throw new AnswerMissing();
  return marks;
}
