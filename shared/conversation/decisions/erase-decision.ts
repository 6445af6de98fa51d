import { hasAnswer } from '#shared/wire/resources/messages.ts';
import { isErased, type ErasedPart } from '../writes/erase-turn.ts';
import { isTerminal, type Turn } from '../documents/turn.ts';

/** Turns that one batch empties, at two writes each; a commit takes 500 writes. */
export const ERASED_MAX = 200;

/** What a deletion found. */
export interface EraseFacts {
  /** The turn of the message that was named. */
  named: Turn;
  /** The message was named as an answer. */
  isAnswer: boolean;
  /** The turns that say what the user says in `named`, it and its regenerations, in order. */
  alike: readonly Turn[];
}

export type EraseDecision =
  /** A turn with that text is being answered, or waits to be. */
  | { kind: 'inProgress'; seq: number }
  /** There is no answer to delete. */
  | { kind: 'notFound' }
  /** Deleted before. */
  | { kind: 'done' }
  /** These turns, newest first; `isLast`: after them nothing is left to erase. */
  | { kind: 'erase'; part: ErasedPart; seqs: readonly number[]; isLast: boolean };

/**
 * What the deletion of a message erases: an answer alone, or what the user said with its answer, in every
 * turn that says it.
 */
export function decideErase({ named, isAnswer, alike }: EraseFacts): EraseDecision {
  const part = isAnswer ? 'answer' : 'turn';
  const turns = isAnswer ? [named] : alike;
  const unfinished = turns.find(({ state }) => !isTerminal(state));
  if (unfinished) return { kind: 'inProgress', seq: unfinished.seq };
  const left = turns.filter((turn) => !isErased(turn, part));
  if (left.length === 0) return { kind: 'done' };
  if (isAnswer && !hasAnswer(named)) return { kind: 'notFound' };
  const seqs = left.map(({ seq }) => seq).toReversed();
  return {
    kind: 'erase',
    part,
    seqs: seqs.slice(0, ERASED_MAX),
    isLast: seqs.length <= ERASED_MAX,
  };
}
