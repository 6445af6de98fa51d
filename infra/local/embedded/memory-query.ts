import type { Value } from '#shared/ports/ports.ts';
import type { CheckedQuery } from '#shared/store/checked-query.ts';
import { copyValue, type StoredFields, type StoredValue } from '#shared/store/checked-write.ts';
import { valueAt } from './stored-fields.ts';
import { compareText, compareValues, typeRank } from './value-order.ts';

export interface QueriedDocument {
  path: string;
  fields: StoredFields;
  updateTime: string;
}

interface Position {
  value: StoredValue | undefined;
  path: string;
}

/**
 * The documents of one collection that a query finds, in its order. A document without the field that is
 * compared or ordered by is not found. Scans and sorts all of `documents`.
 */
export function runQuery(
  documents: Iterable<QueriedDocument>,
  query: CheckedQuery,
): QueriedDocument[] {
  const orderPath = query.orderBy?.field.split('.');
  const sign = query.orderBy?.direction === 'desc' ? -1 : 1;
  const positionOf = (document: QueriedDocument): Position => ({
    path: document.path,
    value: orderPath && valueAt(document.fields, orderPath),
  });
  const matches = matcher(query);
  const after = startOf(query);
  return [...documents]
    .filter((document) => matches(document.fields))
    .map((document) => ({ document, position: positionOf(document) }))
    .filter(({ position }) => orderPath === undefined || position.value !== undefined)
    .filter(({ position }) => !after || sign * comparePositions(position, after) > 0)
    .toSorted((a, b) => sign * comparePositions(a.position, b.position))
    .slice(0, query.limit)
    .map(({ document }) => document);
}

function startOf({ startAfter, collection, orderBy }: CheckedQuery): Position | undefined {
  if (startAfter === undefined) return undefined;
  const value = orderBy && startAfter.value;
  return { path: startAfter.path, value: value === undefined ? value : copied(value, collection) };
}

/** Documents of one collection: their paths order as their ids. */
function comparePositions(a: Position, b: Position): number {
  const byValue =
    a.value === undefined || b.value === undefined ? 0 : compareValues(a.value, b.value);
  return byValue === 0 ? compareText(a.path, b.path) : byValue;
}

function matcher(query: CheckedQuery): (fields: StoredFields) => boolean {
  const conditions = (query.where ?? []).map(({ field, op, value }) => ({
    fieldPath: field.split('.'),
    op,
    value: copied(value, query.collection),
  }));
  return (fields) =>
    conditions.every(({ fieldPath, op, value }) => {
      const found = valueAt(fields, fieldPath);
      return found !== undefined && holds(found, op, value);
    });
}

function holds(
  found: StoredValue,
  op: '==' | '<' | '<=' | '>' | '>=',
  value: StoredValue,
): boolean {
  if (typeRank(found) !== typeRank(value)) return false;
  const difference = compareValues(found, value);
  const results = {
    '==': difference === 0,
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
  };
  return results[op];
}

function copied(value: Value, path: string): StoredValue {
  return copyValue(value, { path, field: 'of the query', depth: 0 });
}
