import type { DocumentFields } from '../ports.ts';
import type { Head } from './head.ts';
import { encodeHistory, type History } from './history.ts';

/** All that is left of a history one of whose turns was erased: when it was made, and how far it reached. */
const emptied = (history: History): History => ({
  ...history,
  snapshotText: '',
  snapshotTokens: 0,
  maskedTokensSaved: 0,
  sections: {},
  masks: [],
  report: {},
  sourceHash: '',
  erased: true,
});

/**
 * A history with nothing of the given turns. A snapshot does not say which of its sentences came from
 * which turn, so one that covers an erased turn goes whole; masks name their turn and go singly.
 */
export function withoutTurns(history: History, seqs: readonly number[]): History {
  if (history.erased === true) return history;
  if (seqs.some((seq) => seq <= history.coveredThrough.seq)) return emptied(history);
  const masks = history.masks.filter(({ seq }) => !seqs.includes(seq));
  // Which share of the saving a mask had is not stored.
  return masks.length === history.masks.length
    ? history
    : { ...history, masks, maskedTokensSaved: 0 };
}

/**
 * A history as it may be shown and used: while an erasure is under way, documents of generations before
 * it may still hold what is to go.
 */
export function cleanHistory(
  head: Pick<Head, 'pendingErasure' | 'changedIn'>,
  history: History,
): History {
  if (!head.pendingErasure || history.generation >= head.changedIn) return history;
  return withoutTurns(history, head.pendingErasure.seqs);
}

/** What an erasure changes in a stored history. */
export function erasedFields(history: History): DocumentFields {
  const { snapshotText, snapshotTokens, maskedTokensSaved, sourceHash, erased, ...rest } =
    encodeHistory(history);
  const { sectionsJson, masksJson, reportJson } = rest;
  return {
    snapshotText,
    snapshotTokens,
    maskedTokensSaved,
    sourceHash,
    erased,
    sectionsJson,
    masksJson,
    reportJson,
  };
}

/** Names of the blobs (SHA-256, hex) that a history's masks tell the model of, by turn. */
export const blobsNamedBy = (history: Pick<History, 'masks'>): { seq: number; name: string }[] =>
  history.masks.flatMap(({ seq, part }) =>
    [...JSON.stringify(part).matchAll(/read_blob\(\\+"([0-9a-f]{64})\\+"\)/gu)].map(
      ([, name = '']) => ({ seq, name }),
    ),
  );
