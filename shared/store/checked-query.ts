import type { Query, Value } from '../ports/ports.ts';
import { checkCollectionPath, checkDocumentPath, parseFieldPath } from './names.ts';

export interface CheckedQuery extends Query {
  /** The order that holds: the asked one, else that of the inequality; none means by document id alone. */
  orderBy?: { field: string; direction: 'asc' | 'desc' };
}

/**
 * Checks a query before it is sent, so that every store answers the same ones; a query that breaks a rule
 * is a defect of the caller. An inequality without `orderBy` orders by its field, as in Firestore.
 * Throws RangeError: a limit below 1, inequalities on two fields or on another field than `orderBy`, an
 * inequality with null or NaN, `startAfter` outside the collection or without the value of the order.
 */
export function checkQuery(query: Query): CheckedQuery {
  checkCollectionPath(query.collection);
  if (!Number.isInteger(query.limit) || query.limit < 1) {
    throw new RangeError(`a query needs a limit of 1 or more, not ${query.limit}`);
  }
  for (const { field, op, value } of query.where ?? []) {
    parseFieldPath(field, query.collection);
    if (op !== '==' && isUnordered(value)) {
      throw new RangeError(`${query.collection}: no inequality of ${field} with null or NaN`);
    }
  }
  const orderBy = query.orderBy ?? impliedOrder(query);
  if (orderBy !== undefined) parseFieldPath(orderBy.field, query.collection);
  checkInequalities(query, orderBy?.field);
  checkStartAfter(query, orderBy?.field);
  return orderBy === undefined ? query : { ...query, orderBy };
}

/** What a watch follows: a whole collection, or the documents whose field is at least `since`. */
export function watchedQuery(
  collection: string,
  since: { field: string; value: Date } | undefined,
): CheckedQuery {
  const where = since && [{ field: since.field, op: '>=' as const, value: since.value }];
  return checkQuery({ collection, limit: Number.MAX_SAFE_INTEGER, ...(where && { where }) });
}

function isUnordered(value: Value): boolean {
  return value === null || Number.isNaN(value);
}

function impliedOrder(query: Query): CheckedQuery['orderBy'] {
  const inequality = query.where?.find((condition) => condition.op !== '==');
  return inequality && { field: inequality.field, direction: 'asc' };
}

/** The emulator refuses any other order, and Firestore would need an index for each. */
function checkInequalities(query: Query, orderField: string | undefined): void {
  const stray = query.where?.find(({ op, field }) => op !== '==' && field !== orderField);
  if (stray === undefined) return;
  throw new RangeError(`${query.collection}: the inequality on ${stray.field} needs its own order`);
}

function checkStartAfter(query: Query, orderField: string | undefined): void {
  const { startAfter, collection } = query;
  if (startAfter === undefined) return;
  checkDocumentPath(startAfter.path);
  if (startAfter.path.slice(0, startAfter.path.lastIndexOf('/')) !== collection) {
    throw new RangeError(`startAfter does not name a document of ${collection}`);
  }
  if (orderField !== undefined && startAfter.value === undefined) {
    throw new RangeError(`startAfter needs the value of ${orderField}`);
  }
}
