import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import type { Operation } from '#shared/compaction/ledger/prompt/operation.ts';
import { toRecalledText } from '#shared/compaction/ledger/prompt/recalled-text.ts';
import { overlapShare, distinctWords } from '#shared/text/words.ts';

/** Of one round. */
const QUESTIONS_MAX = 24;
/** Those about statements that are not clear; the others name what is missing. */
const UNCLEAR_MAX = 8;
/** Dice coefficient of the words of two statements about the same. */
const SAME_STATEMENT = 0.6;

/** English alone: nobody can tell later who or when that was. A heuristic. */
const unclearWords =
  /^(?:he|she|it|they|this|that|these|those|his|her|their|its)\b|\b(?:yesterday|today|tomorrow|tonight|(?:last|next|this) (?:week|month|year|night|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b/iu;

type Statement = Extract<Operation, { text: string }>;

/** What questions are made from. */
interface Answered {
  /** Of the folded turns. */
  facts: readonly Fact[];
  /** What stays in the context beside the snapshot. */
  keptTexts: readonly string[];
  /** What was known before. */
  knownTexts: readonly string[];
}

const statementsOf = (operations: readonly Operation[]): Statement[] =>
  operations.filter((operation) => operation.op !== 'remove');

const isUnclear = ({ text }: Statement): boolean => unclearWords.test(text.trim());

const isSame = (one: Statement, other: Statement): boolean =>
  overlapShare(distinctWords(one.text), distinctWords(other.text)) >= SAME_STATEMENT;

/** Every run of digits in a text. */
const literalFigures = (text: string): ReadonlySet<string> =>
  new Set(text.match(/\d+(?:[.,]\d+)*/gu));

/** Two statements with the same words and different figures: one of them may hold no longer. */
function contradictions(statements: readonly Statement[]): [Statement, Statement][] {
  const worded = statements.map((statement) => ({
    statement,
    words: distinctWords(statement.text),
  }));
  return worded.flatMap((one, index) =>
    worded
      .slice(index + 1)
      .filter(({ words }) => overlapShare(one.words, words) >= SAME_STATEMENT)
      .filter(({ statement }) => {
        const figures = literalFigures(one.statement.text);
        const others = literalFigures(statement.text);
        return (
          figures.size > 0 && others.size > 0 && [...figures].every((each) => !others.has(each))
        );
      })
      .map(({ statement }): [Statement, Statement] => [one.statement, statement]),
  );
}

/**
 * What code asks about an answer, a JSON object a line: statements that are not clear, statements that exclude
 * each other, then the weightiest facts of user and model that stand nowhere. Quadratic in the statements.
 */
export function questionsOf(operations: readonly Operation[], answered: Answered): string[] {
  const statements = statementsOf(operations);
  const unclear = statements.filter(isUnclear).map(({ text, sources }) => ({
    question: 'Who or what is meant, and on which day?',
    turns: sources,
    text,
  }));
  const excluding = contradictions(statements).map(([one, other]) => ({
    question: `Does this hold, or ${JSON.stringify(other.text)}, or both?`,
    turns: [...one.sources, ...other.sources],
    text: one.text,
  }));
  const { missing } = toRecalledText(answered.facts, {
    snapshotTexts: [...answered.knownTexts, ...statements.map(({ text }) => text)],
    keptTexts: answered.keptTexts,
  });
  const lacking = missing
    .filter(({ tier }) => tier !== 3)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ text, seqs, sentence }) => ({
      question: 'What do these turns say of it, and does it still hold?',
      turns: seqs.slice(0, 3),
      text,
      ...(sentence !== text && { sentence }),
    }));
  return [...[...excluding, ...unclear].slice(0, UNCLEAR_MAX), ...lacking]
    .slice(0, QUESTIONS_MAX)
    .map((question) => JSON.stringify(question));
}

/**
 * The operations of an answer and of the answers to its questions. A statement that was not clear gives way to
 * one of the same words from one of its turns; what is only said again is left out.
 */
export function withAnswers(
  operations: readonly Operation[],
  answers: readonly Operation[],
): Operation[] {
  const texts = new Set(statementsOf(operations).map(({ text }) => text));
  const fresh = answers.filter((answer) => answer.op === 'remove' || !texts.has(answer.text));
  const standing = operations.filter(
    (operation) =>
      operation.op === 'remove' ||
      !isUnclear(operation) ||
      !statementsOf(fresh).some(
        (answer) =>
          answer.sources.some((seq) => operation.sources.includes(seq)) &&
          isSame(answer, operation),
      ),
  );
  return [...standing, ...fresh];
}
