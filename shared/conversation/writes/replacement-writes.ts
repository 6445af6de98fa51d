import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { CompactionRequests, Pin } from '../documents/conversation.ts';
import { encodeHistory, type History } from '../documents/history.ts';
import { generationFields } from './next-generation.ts';
import { historyPath, turnPath } from '../documents/paths.ts';
import { replacedField } from './replaced-by.ts';

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
    {
      op: 'create',
      path: historyPath(conversationId, history.generation),
      fields: encodeHistory(history),
    },
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
