import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { decodeInboxEntry, unreadCount } from '#shared/conversation/documents/inbox.ts';
import { queueSeqs } from '#shared/conversation/start-decision.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import type { ListedState } from '../listed-states.ts';
import { when, type Invariant } from './invariant.ts';

/** The turns up to this one have ended. */
function endedSeq(document: StoredDocument): number {
  const { value } = decodeConversation(document);
  const unfinished = [...(value.open ? [value.open.seq] : []), ...queueSeqs(value)];
  return Math.min(value.lastSeq + 1, ...unfinished) - 1;
}

function faultsOf(states: readonly ListedState[]): string[] {
  let readBefore = 0;
  // A turn that failed may be tried again: it has ended all the same.
  let ended = 0;
  let answeredBefore = 0;
  return states.flatMap(({ afterCommits, conversation, entry }) => {
    if (!conversation || !entry || entry.fields['list'] === 'gone') return [];
    const read = decodeInboxEntry(entry);
    const { readSeq, unread, answered } = read;
    ended = Math.max(ended, endedSeq(conversation));
    const before = readBefore;
    readBefore = readSeq;
    const answeredSeq = answered?.seq ?? 0;
    const newest = answeredBefore;
    answeredBefore = answeredSeq;
    return [
      ...when(readSeq < before, `readSeq falls from ${before} to ${readSeq}`),
      ...when(readSeq > ended, `readSeq is ${readSeq}, and turns have ended up to ${ended}`),
      ...when(answeredSeq < newest, `the last answer is ${answeredSeq}, and ${newest} came before`),
      ...when(
        !unread && answeredSeq > readSeq,
        `answer ${answeredSeq} is not unread, and read up to ${readSeq}`,
      ),
      ...when(
        unread !== unreadCount(read) > 0,
        `it is ${unread ? '' : 'not '}unread, and counts ${unreadCount(read)} unread answers`,
      ),
    ].map((fault) => `after commit ${afterCommits} ${fault}`);
  });
}

/**
 * Devices say in any order, late and more than once what they have shown; an answer that nobody has seen yet must never
 * count as read.
 */
export const readMarks: Invariant = {
  name: 'I12 what was read and answered never becomes fewer, and nothing is read that has not ended',
  violations: ({ journal: { listed } }) =>
    [...new Set(listed.map(({ conversationId }) => conversationId))].flatMap((id) =>
      faultsOf(listed.filter(({ conversationId }) => conversationId === id)),
    ),
};
