import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { inboxFields } from '#shared/conversation/documents/inbox.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import type { Invariant } from './invariant.ts';
import { isDeepStrictEqual } from 'node:util';

/** What an entry has beside the fields that follow from the conversation document. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['readSeq', 'unread', 'changeTime']);
/** All that one of a conversation has of which nothing is left. */
const GONE_FIELDS = ['changeTime', 'expireTime', 'list', 'schemaVersion'];

function goneFaults({ fields }: StoredDocument): string[] {
  const names = Object.keys(fields).toSorted();
  return fields['list'] === 'gone' && isDeepStrictEqual(names, GONE_FIELDS)
    ? []
    : [`it is gone, and its entry is ${JSON.stringify(fields['list'])} with ${names.join(' ')}`];
}

/** What an entry of the inbox says otherwise than the conversation document. */
export function entryFaults(
  conversation: StoredDocument | undefined,
  entry: StoredDocument | undefined,
): string[] {
  if (!conversation) return entry ? ['there is an entry, and no conversation'] : [];
  const { value } = decodeConversation(conversation);
  // Nobody lists a fork before it is done.
  if (value.state === 'forking') return entry ? ['a fork that is not done has an entry'] : [];
  if (value.state === 'erasing' || value.state === 'erased') return entry ? goneFaults(entry) : [];
  if (!entry) return [`it is ${value.state}, and has no entry`];
  const wanted = new Map<string, unknown>(
    Object.entries(inboxFields(value)).filter(([, field]) => field !== undefined),
  );
  const names = new Set([...wanted.keys(), ...Object.keys(entry.fields)]);
  return [...names]
    .filter((name) => !OWN_FIELDS.has(name))
    .filter((name) => !isDeepStrictEqual(entry.fields[name], wanted.get(name)))
    .map(
      (name) =>
        `its entry has ${name} ${JSON.stringify(entry.fields[name])}, the conversation document ${JSON.stringify(wanted.get(name))}`,
    );
}

/**
 * A list is one query over entries, so nobody reads the conversation document to correct one. Each batch that changes
 * what a list shows writes both: after no commit may they differ.
 */
export const listedEntries: Invariant = {
  name: 'I12 after every commit the entry in the inbox says what the conversation document says',
  violations: ({ journal }) =>
    journal.listed.flatMap(({ afterCommits, conversationId, conversation, entry }) =>
      entryFaults(conversation, entry).map(
        (fault) => `after commit ${afterCommits} of ${conversationId} ${fault}`,
      ),
    ),
};
