import type { Conversation } from '../documents/conversation.ts';
import { encodeHistory, type History } from '../documents/history.ts';
import {
  isAboutTurn,
  lastSource,
  workingItems,
  type Item,
  type Snapshot,
} from '../documents/snapshot.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';

/** All that is left of a history whose snapshot cannot be mended: when it was made, and how far it reached. */
export const emptiedHistory = (history: History): History => ({
  ...history,
  snapshotText: '',
  snapshotTokens: 0,
  snapshot: null,
  report: {},
  erased: true,
});

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
  return seqs.some((seq) => seq <= history.coveredThrough.seq) ? emptiedHistory(history) : history;
}

/** Fields of a stored history that an erasure changes. */
const ERASED_FIELDS = [
  'snapshotText',
  'snapshotTokens',
  'erased',
  'snapshotJson',
  'reportJson',
  'mended',
  'rederiveFrom',
];

/** What an erasure changes in a stored history. */
export function erasedFields(history: History): DocumentFields {
  const fields = encodeHistory(history);
  return Object.fromEntries(ERASED_FIELDS.map((name) => [name, fields[name]]));
}

/** How a snapshot becomes the user text of a context, with the boundary that its generation drew. */
export type RenderHistory = (
  snapshot: Snapshot,
  boundary: string,
) => Pick<History, 'snapshotText' | 'snapshotTokens'>;

/** What of a conversation is gone, and with it all that came of it. */
export interface Gone {
  seqs: readonly number[];
  /** This turn and all after it too. */
  fromSeq?: number | undefined;
  /** Whether an item goes whatever it cites. */
  isGoneItem?: ((item: Item) => boolean) | undefined;
}

const isGoneSeq = ({ seqs, fromSeq = Infinity }: Gone, seq: number) =>
  seq >= fromSeq || seqs.includes(seq);

/** An item stays if it says of which turns it came, and all that it tells of stand. */
const staysWithout =
  (gone: Gone) =>
  (item: Item): boolean =>
    item.sources.length > 0 &&
    lastSource(item) < (gone.fromSeq ?? Infinity) &&
    !gone.seqs.some((seq) => isAboutTurn(item, seq)) &&
    gone.isGoneItem?.(item) !== true;

function snapshotWithout(snapshot: Snapshot, gone: Gone): Snapshot {
  const stays = staysWithout(gone);
  const sections = Object.entries(snapshot.sections)
    .map(([name, items]) => [name, items.filter(stays)] as const)
    .filter(([, items]) => items.length > 0);
  const { citations = [], ...rest } = snapshot;
  const remaining = citations.filter(({ seq }) => !isGoneSeq(gone, seq));
  return {
    ...rest,
    sections: Object.fromEntries(sections),
    archive: snapshot.archive.filter(stays),
    ...(remaining.length > 0 && { citations: remaining }),
  };
}

const itemCount = (snapshot: Snapshot) =>
  Object.values(snapshot.sections).flat().length + snapshot.archive.length;

/** The first gone turn that a history covers, or undefined. */
function firstCovered(history: History, gone: Gone): number | undefined {
  const { seq: last } = history.coveredThrough;
  const covered = [...gone.seqs, gone.fromSeq ?? Infinity].filter((seq) => seq <= last);
  return covered.length > 0 ? Math.min(...covered) : undefined;
}

/**
 * A history with nothing of the given turns, by provenance: in both layers of its snapshot stay the items
 * that tell of none of them; one without sources may tell of any turn, and goes. The text is rendered anew,
 * the report goes. Where nothing stays the history is emptied (`erased`) and
 * may not go on. The next compaction reads again from the first of the turns (`rederiveFrom`). One that loses
 * nothing is returned as it is.
 */
export function withoutTurns(history: History, gone: Gone, render: RenderHistory): History {
  if (history.erased === true) return history;
  const first = firstCovered(history, gone);
  if (first === undefined) return history;
  if (!history.snapshot) return emptiedHistory(history);
  const snapshot = snapshotWithout(history.snapshot, gone);
  if (workingItems(snapshot).length === 0) return emptiedHistory(history);
  const isWhole =
    itemCount(snapshot) === itemCount(history.snapshot) &&
    snapshot.citations?.length === history.snapshot.citations?.length;
  const { fromSeq = Infinity } = gone;
  const isReplaced = fromSeq <= history.coveredThrough.seq;
  if (isWhole && history.mended && !isReplaced) return history;
  return {
    ...history,
    ...(!isWhole && { snapshot, ...render(snapshot, history.boundary) }),
    // A turn that was replaced may have ended statements of others, which stand again.
    ...((!isWhole || isReplaced) && {
      rederiveFrom: Math.min(first, history.rederiveFrom ?? Infinity),
    }),
    ...(isReplaced && {
      from: Math.min(history.from, fromSeq - 1),
      coveredThrough: { seq: fromSeq - 1, contentIndex: 0 },
    }),
    report: {},
    mended: true,
  };
}
