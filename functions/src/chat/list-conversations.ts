import { z } from 'zod';
import { decodeHead, type Head } from '../../../shared/conversation/head.ts';
import { CONVERSATIONS, headPath } from '../../../shared/conversation/paths.ts';
import type { Caller } from '../../../shared/ports.ts';
import { decodePageToken, encodePageToken } from '../../../shared/wire/page-token.ts';
import { conversationIdSchema } from '../../../shared/wire/requests.ts';
import type { ChatDependencies } from './chat-dependencies.ts';

/** Update time (ms since 1970) and id of the last entry of a page. */
const placeSchema = z.strictObject({
  t: z.number().int().min(0).max(8.64e15),
  id: conversationIdSchema,
});

const idOf = (path: string) => path.slice(CONVERSATIONS.length + 1);

/**
 * A page of the caller's live conversations, newest update first. The owner is part of the query, so no
 * page token can reach another's. Throws PAGE_TOKEN_INVALID.
 */
export async function listConversations(
  { store }: Pick<ChatDependencies, 'store'>,
  page: { caller: Caller; pageSize: number; pageToken?: string | undefined },
): Promise<{ conversations: { id: string; head: Head }[]; nextPageToken?: string }> {
  const place = decodePageToken(placeSchema, page.pageToken);
  const documents = await store.query({
    collection: CONVERSATIONS,
    where: [
      { field: 'ownerUid', op: '==', value: page.caller.uid },
      { field: 'state', op: '==', value: 'live' },
    ],
    orderBy: { field: 'updateTime', direction: 'desc' },
    limit: page.pageSize + 1,
    ...(place && { startAfter: { value: new Date(place.t), path: headPath(place.id) } }),
  });
  const conversations = documents
    .slice(0, page.pageSize)
    .map((document) => ({ id: idOf(document.path), head: decodeHead(document).value }));
  const last = conversations.at(-1);
  if (documents.length <= page.pageSize || !last) return { conversations };
  const nextPageToken = encodePageToken({ t: last.head.updateTime.getTime(), id: last.id });
  return { conversations, nextPageToken };
}
