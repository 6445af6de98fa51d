import { findMatches } from '#shared/text/matches.ts';
import type { FactKind } from './fact.ts';

/** A fact at a place of a text. */
export interface FactMatch {
  kind: FactKind;
  start: number;
  end: number;
  /** All that it can mean, each in one notation; facts are equal when they share one. Never empty. */
  readings: readonly string[];
  /** What looks like a fact of its kind without saying much: never tier 1. */
  isWeak?: boolean;
}

/** Names that may be other words leave a doubt. */
export const isCertain = ({ kind, isWeak }: Pick<FactMatch, 'kind' | 'isWeak'>): boolean =>
  kind !== 'name' || isWeak !== true;

/** Finds the facts of one family in a folded text, in order. Linear. */
export type Finder = (text: string) => FactMatch[];

/** All matches of a global expression, made into facts; undefined leaves one out. */
export function findAll(
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => FactMatch | undefined,
): FactMatch[] {
  const found: FactMatch[] = [];
  for (const match of findMatches(text, pattern)) {
    const one = read(match);
    if (one !== undefined) found.push(one);
  }
  return found;
}

/** A fact that takes the whole of a match. */
export const wholeMatch = (
  match: RegExpExecArray,
  kind: FactKind,
  readings: readonly string[],
): FactMatch => ({ kind, start: match.index, end: match.index + match[0].length, readings });
