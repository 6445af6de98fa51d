import type { DocumentFields, StoredDocument, Value } from '#shared/ports/ports.ts';
import { fieldAt } from '#shared/store/many-documents.ts';

/** What the extension calls its fields, dotted where they stand in maps. */
export interface SourceFields {
  prompt: string;
  response: string;
  order: string;
}

/** Why a document of the extension becomes no turn. */
export const skippedReasons = {
  'no-prompt': 'has no prompt, or one that is no text',
  'no-order': 'has no value in the order field, so the extension left it out of the history',
  'not-answered': 'was not answered yet',
} as const;
export type SkippedReason = keyof typeof skippedReasons;

/** A place in the order of the extension. */
type Order = Date | number | string;

/** A document that becomes a turn. */
export interface SourceMessage {
  path: string;
  order: Order;
  prompt: string;
  answer: { text: string } | { failure: string };
  createTime: Date | undefined;
  finishTime: Date | undefined;
}

/** Numbers from here on are taken for milliseconds since 1970 (2001 and later). */
const LEAST_MS = 1e12;
/** The last moment that Firestore and Recap can hold. */
const MOST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function toTime(value: Value | undefined): Date | undefined {
  if (value instanceof Date) return value;
  const isTime = typeof value === 'number' && value >= LEAST_MS && value <= MOST_MS;
  return isTime ? new Date(value) : undefined;
}

const isOrder = (value: Value | undefined): value is Order =>
  value instanceof Date ||
  (typeof value === 'number' && !Number.isNaN(value)) ||
  typeof value === 'string';

/** What was answered; undefined while that is not known. */
function answerIn(
  fields: DocumentFields,
  names: SourceFields,
): SourceMessage['answer'] | undefined {
  const response = fieldAt(fields, names.response);
  const state = fieldAt(fields, 'status.state');
  const error = fieldAt(fields, 'status.error');
  if (typeof response === 'string' && response !== '' && state !== 'ERROR')
    return { text: response };
  if (state === 'ERROR') return { failure: typeof error === 'string' ? error : '' };
  return state === 'COMPLETED' ? { failure: '' } : undefined;
}

/** Reads a document of the extension, or says why it becomes no turn. Pure. */
export function readSourceMessage(
  { path, fields }: StoredDocument,
  names: SourceFields,
): SourceMessage | { skipped: SkippedReason } {
  const prompt = fieldAt(fields, names.prompt);
  if (typeof prompt !== 'string' || prompt === '') return { skipped: 'no-prompt' };
  const order = fieldAt(fields, names.order);
  if (!isOrder(order)) return { skipped: 'no-order' };
  const answer = answerIn(fields, names);
  if (!answer) return { skipped: 'not-answered' };
  // The extension writes `createTime` whatever the order field is.
  const createTime =
    toTime(fieldAt(fields, 'createTime')) ??
    toTime(order) ??
    toTime(fieldAt(fields, 'status.startTime'));
  const finishTime =
    toTime(fieldAt(fields, 'status.completeTime')) ?? toTime(fieldAt(fields, 'status.updateTime'));
  return { path, order, prompt, answer, createTime, finishTime };
}

const rank = (order: Order) => (typeof order === 'number' ? 0 : order instanceof Date ? 1 : 2);
const compare = <T extends number | string>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

function compareOrders(a: Order, b: Order): number {
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compare(a, b);
  return rank(a) - rank(b);
}

/** The order in which the extension tells them to its model: by the order field, then by name. */
export const compareMessages = (a: SourceMessage, b: SourceMessage): number =>
  compareOrders(a.order, b.order) || compare(a.path, b.path);
