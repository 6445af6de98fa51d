import { isSeen, partSchema } from '#shared/models/content.ts';
import type { CompactionRequests, Pin } from '../documents/conversation.ts';
import { historyWrite, type History } from '../documents/history.ts';
import { seqOfId, turnId, turnPath } from '../documents/paths.ts';
import type { TurnDocument } from '../documents/turn.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { generationFields } from './next-generation.ts';
import { z } from 'zod';

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

/** What an edit or a regeneration changes beside its own turn. */
export interface Replacement {
  /** First of the turns that leave the context; all up to the new turn do. */
  fromSeq: number;
  /** The next generation: what goes on of the history without those turns. */
  history: History;
  /** Set when pins came of those turns: the pins that stay. */
  pins?: readonly Pin[];
  /** Set when the index of recall has some of those turns: how far it still counts. */
  indexedThrough?: number;
  /** Set when turns that were folded stand verbatim again and fill the context. */
  compactionRequest?: CompactionRequests['auto'];
}

/** What the conversation document says after a replacement. */
export const replacementFields = ({
  history,
  pins,
  indexedThrough,
  compactionRequest,
}: Replacement): DocumentFields => ({
  ...generationFields(history),
  ...(pins && { pins: [...pins] }),
  ...(indexedThrough !== undefined && { indexedThrough }),
  ...(compactionRequest && { 'compactionRequests.auto': { ...compactionRequest } }),
});

/**
 * The writes of a replacement beside conversation and new turn. The turns are ended, so the conversation document's
 * guard, which every change of an ended turn needs, is theirs too; those that the batch closes say so where it closes
 * them.
 */
export function replacementWrites(
  conversationId: string,
  batch: {
    replacement: Replacement;
    /** The new turn. */
    seq: number;
    abandoned: readonly { seq: number }[];
  },
): Write[] {
  const { replacement, seq, abandoned } = batch;
  const { fromSeq, history } = replacement;
  const closed = new Set(abandoned.map((turn) => turn.seq));
  const seqs = Array.from({ length: seq - fromSeq }, (_, i) => fromSeq + i);
  return [
    historyWrite(conversationId, history),
    ...seqs
      .filter((replaced) => !closed.has(replaced))
      .map((replaced): Write => ({
        op: 'update',
        path: turnPath(conversationId, replaced),
        fields: { inContext: false, ...replacedField(seq) },
        guard: { exists: true },
      })),
  ];
}
