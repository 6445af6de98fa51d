import { z } from 'zod';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { toFinishReason } from '#shared/wire/finish-reason.ts';
import { isSeen, partSchema } from '../documents/content.ts';
import { seqOfId, turnId } from '../documents/paths.ts';
import type { TurnDocument } from '../documents/turn.ts';

type TurnFields = TurnDocument['value'];

/** What a turn says from now on: turn `seq` stands in for it. Earlier ones that did stay noted. */
export const replacedField = (seq: number): DocumentFields => ({
  [`replacedBy.${turnId(seq)}`]: true,
});

/** Whether an edit or a regeneration has put another turn in the place of this one. */
export const isReplaced = ({ replacedBy }: Pick<TurnFields, 'replacedBy'>): boolean =>
  replacedBy !== undefined && Object.keys(replacedBy).length > 0;

/** The turns up to `lastSeq` that stand in for a turn. */
export const replacedWithin = (
  { replacedBy = {} }: Pick<TurnFields, 'replacedBy'>,
  lastSeq: number,
): NonNullable<TurnFields['replacedBy']> =>
  Object.fromEntries(
    Object.entries(replacedBy).filter(([id]) => (seqOfId(id, 't') ?? 0) <= lastSeq),
  );

const answerSchema = z.array(z.object({ parts: z.array(partSchema) }));

/** Whether a stopped answer has something that its readers saw: only then was it ever in a context. */
const wasSeen = ({ answerJson, answerPieces }: TurnFields) =>
  // What takes more than one document is more than thoughts.
  answerPieces > 0 || answerSchema.parse(JSON.parse(answerJson)).some(({ parts }) => isSeen(parts));

/** Whether a turn is in the context of a copy that ends with turn `lastSeq`: only later ones replaced it. */
export function isInContextThrough(turn: TurnFields, lastSeq: number): boolean {
  const { state, finishReason, eraseTime, inContext, foldedInContext, blocked } = turn;
  if (inContext) return true;
  if (foldedInContext === false || blocked !== undefined) return false;
  if (Object.keys(replacedWithin(turn, lastSeq)).length > 0) return false;
  const isFiltered =
    finishReason !== undefined && toFinishReason(finishReason) === 'content-filter';
  const hasRounds = turn.rounds !== undefined;
  const isAnswered = state === 'done' || (state === 'cancelled' && (hasRounds || wasSeen(turn)));
  return isReplaced(turn) && isAnswered && eraseTime === undefined && !isFiltered;
}
