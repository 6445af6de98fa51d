import type { DocumentFields } from '#shared/ports/ports.ts';
import type { Conversation } from '../documents/conversation.ts';
import { encodeHistory, type History } from '../documents/history.ts';

/** All that is left of a history whose snapshot cannot be mended: when it was made, and how far it reached. */
export const emptiedHistory = (history: History): History => ({
  ...history,
  snapshotText: '',
  snapshotTokens: 0,
  maskedTokensSaved: 0,
  snapshot: null,
  masks: [],
  report: {},
  sourceHash: '',
  erased: true,
});

/** A history without the masks of some turns: masks name their turn and go singly. */
export function withoutMasksFrom(history: History, isGone: (seq: number) => boolean): History {
  const masks = history.masks.filter(({ seq }) => !isGone(seq));
  // Which share of the saving a mask had is not stored.
  return masks.length === history.masks.length
    ? history
    : { ...history, masks, maskedTokensSaved: 0 };
}

/**
 * A history as it may be shown and used: while an erasure is under way, documents of generations before
 * it may still hold what is to go. Until they are mended, those that cover an erased turn say nothing.
 */
export function cleanHistory(
  conversation: Pick<Conversation, 'pendingErasure' | 'changedIn'>,
  history: History,
): History {
  if (!conversation.pendingErasure || history.generation >= conversation.changedIn) return history;
  if (history.erased === true) return history;
  const { seqs } = conversation.pendingErasure;
  if (seqs.some((seq) => seq <= history.coveredThrough.seq)) return emptiedHistory(history);
  return withoutMasksFrom(history, (seq) => seqs.includes(seq));
}

/** What an erasure changes in a stored history. */
export function erasedFields(history: History): DocumentFields {
  const { snapshotText, snapshotTokens, maskedTokensSaved, sourceHash, erased, ...rest } =
    encodeHistory(history);
  const { snapshotJson, masksJson, reportJson, mended, rederiveFrom } = rest;
  return {
    snapshotText,
    snapshotTokens,
    maskedTokensSaved,
    sourceHash,
    erased,
    snapshotJson,
    masksJson,
    reportJson,
    mended,
    rederiveFrom,
  };
}

/** Names of the blobs (SHA-256, hex) that a history's masks tell the model of, by turn. */
export const blobsNamedBy = (history: Pick<History, 'masks'>): { seq: number; name: string }[] =>
  history.masks.flatMap(({ seq, part }) =>
    [...(JSON.stringify(part) ?? '').matchAll(/read_blob\(\\+"([0-9a-f]{64})\\+"\)/gu)].map(
      ([, name = '']) => ({ seq, name }),
    ),
  );
