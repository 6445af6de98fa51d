import { createHash } from 'node:crypto';
import type { AnswerFolder } from '../answers/answer-folder.ts';
import { askAll, askRecorded } from '../answers/ask-recorded.ts';
import {
  judgePrompt,
  QUESTIONS_PER_PROMPT,
  readAnswers,
  readerPrompt,
  readMarks,
  type Given,
  type Question,
  type Seen,
} from './reader-prompts.ts';

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
  const ask = askRecorded(folder);
  const parts = partsOf(questions, QUESTIONS_PER_PROMPT);
  const answers = await askAll(
    parts.map((part, index) => async () => {
      const text = readerPrompt({ context, questions: part });
      const answer = await ask({ kind: 'reader', number: index + 1, text });
      return readAnswers(answer, part.length, `${id}, ${method}, reader ${index + 1}`);
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
  const ask = askRecorded(folder);
  const shuffled = rows.toSorted((a, b) => (shuffleKey(a) < shuffleKey(b) ? -1 : 1));
  const marks = await askAll(
    partsOf(shuffled, MARKS_PER_PROMPT).map((part, index) => async () => {
      const answer = await ask({ kind: 'judge', number: index + 1, text: judgePrompt(part) });
      const given = readMarks(answer, part.length, `${id}, judge ${index + 1}`);
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
