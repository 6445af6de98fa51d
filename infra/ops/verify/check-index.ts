import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { lastOfSegment } from '#shared/recall/segment.ts';
import { findingWhen, type Finding } from './finding.ts';
import type { Loaded } from './load/loaded.ts';

/** What the conversation document says of the index of recall is there, and nothing of erased turns. */
export function checkIndex(
  loaded: Pick<Loaded, 'index' | 'turns'> & {
    conversation: Pick<Conversation, 'indexedThrough' | 'pendingErasure'>;
  },
): Finding[] {
  const { conversation, index, turns } = loaded;
  const { indexedThrough = 0, pendingErasure } = conversation;
  const pending = new Set(pendingErasure?.seqs ?? []);
  const erased = new Set(
    turns.flatMap(({ fields: { seq, eraseTime } }) =>
      eraseTime && !pending.has(seq) ? [seq] : [],
    ),
  );
  return index.flatMap(({ path, number, throughSeq, seqs }) => {
    const wanted = Math.min(lastOfSegment(number), indexedThrough);
    const told = seqs.filter((seq) => erased.has(seq));
    return [
      ...findingWhen(
        (throughSeq ?? 0) < wanted,
        'index-broken',
        path,
        throughSeq === undefined
          ? `it is missing or cannot be read, the head says that turns up to ${indexedThrough} are indexed`
          : `it has turns up to ${throughSeq}, the head says ${wanted}`,
      ),
      ...findingWhen(
        told.length > 0,
        'index-tells-erased',
        path,
        `it has passages of the erased turns ${told.slice(0, 10).join(', ')}`,
      ),
    ];
  });
}
