import { z } from 'zod';
import { ledgerConstants } from '../ledger-constants.ts';
import { operationSchema, type Operation } from './operation.ts';

/** A whole answer; its operations are read one by one. */
const answerSchema = z.object({ operations: z.array(z.unknown()) });

/** Items that share what stands beside them: the operation and the section. */
const groupSchema = z.looseObject({ items: z.array(z.unknown()) });
const itemSchema = z.looseObject({});

type LedgerAnswerProblem = 'TOO_LONG' | 'NOT_JSON' | 'NO_OPERATIONS' | 'MOSTLY_INVALID';

type LedgerAnswer =
  | { ok: true; operations: Operation[]; /** Operations that could not be read. */ skipped: number }
  | { ok: false; problem: LedgerAnswerProblem };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const between = (text: string, open: string, close: string): unknown =>
  parsed(text.slice(text.indexOf(open), text.lastIndexOf(close) + 1));

/** The JSON of an answer, also inside a code fence or between sentences. */
function jsonIn(text: string): unknown {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const inBraces = between(text, '{', '}');
  const inBrackets = between(text, '[', ']');
  // A list of one operation holds an object as well: the outer one counts.
  return text.indexOf('[') < text.indexOf('{')
    ? (inBrackets ?? inBraces)
    : (inBraces ?? inBrackets);
}

/**
 * The operations of a group, one for each of its items: what the group says holds for all of them. What is no group
 * stands for itself, since models also write operations of one item.
 */
function ungrouped(stated: unknown): unknown[] {
  const group = groupSchema.safeParse(stated);
  if (!group.success) return [stated];
  const { items, ...shared } = group.data;
  return items.map((item) => {
    const own = itemSchema.safeParse(item);
    return own.success ? { ...shared, ...own.data } : item;
  });
}

/**
 * The operations of a model's answer, an item of a group being one. A single one that cannot be read is skipped and
 * counted; when more than half of them cannot, the answer is refused. An empty list is an answer: nothing changed.
 */
export function readLedgerAnswer(text: string): LedgerAnswer {
  if (text.length > ledgerConstants.ledgerAnswerCharacters.value)
    return { ok: false, problem: 'TOO_LONG' };
  const json = jsonIn(text);
  if (json === undefined) return { ok: false, problem: 'NOT_JSON' };
  const answer = answerSchema.safeParse(Array.isArray(json) ? { operations: json } : json);
  if (!answer.success) return { ok: false, problem: 'NO_OPERATIONS' };
  const stated = answer.data.operations.flatMap(ungrouped);
  const read = stated
    .slice(0, ledgerConstants.ledgerOperationLimit.value)
    .map((value) => operationSchema.safeParse(value));
  const operations = read.flatMap((result) => (result.success ? [result.data] : []));
  const invalid = read.length - operations.length;
  if (invalid > ledgerConstants.invalidOperationFraction.value * read.length)
    return { ok: false, problem: 'MOSTLY_INVALID' };
  return { ok: true, operations, skipped: stated.length - operations.length };
}
