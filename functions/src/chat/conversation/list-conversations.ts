import { z } from 'zod';
import { decodeHead, type Head } from '../../../../shared/conversation/head.ts';
import { CONVERSATIONS, headPath } from '../../../../shared/conversation/paths.ts';
import type { Caller } from '../../../../shared/ports.ts';
import {
  decodePageToken,
  encodePageToken,
  type PageScope,
} from '../../../../shared/wire/page-token.ts';
import { conversationIdSchema } from '../../../../shared/wire/requests/ids.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** Update time (ms since 1970) and id of the last entry of a page. */
const placeSchema = z.strictObject({
  t: z.number().int().min(0).max(8.64e15),
  id: conversationIdSchema,
});

const idOf = (path: string) => path.slice(CONVERSATIONS.length + 1);

interface ConversationPage {
  caller: Caller;
  pageSize: number;
  pageToken?: string | undefined;
  /** Whether those in the bin are listed too. */
  showDeleted?: boolean;
}

interface Listed {
  id: string;
  head: Head;
}

const scopeOf = ({ caller, showDeleted = false }: ConversationPage): PageScope => ({
  uid: caller.uid,
  list: 'conversations',
  parameters: { showDeleted },
});

/** One conversation more than a page has, so that the next page is known of. */
async function readPage(
  { store, signer }: Pick<ChatDependencies, 'store' | 'signer'>,
  page: ConversationPage,
  state: 'live' | 'deleted',
): Promise<Listed[]> {
  const { caller, pageSize, pageToken: token } = page;
  const place = decodePageToken(signer, scopeOf(page), { schema: placeSchema, token });
  const documents = await store.query({
    collection: CONVERSATIONS,
    where: [
      { field: 'ownerUid', op: '==', value: caller.uid },
      { field: 'state', op: '==', value: state },
    ],
    orderBy: { field: 'updateTime', direction: 'desc' },
    limit: pageSize + 1,
    ...(place && { startAfter: { value: new Date(place.t), path: headPath(place.id) } }),
  });
  return documents.map((document) => ({
    id: idOf(document.path),
    head: decodeHead(document).value,
  }));
}

/** As the query orders them: newest update first, then the id, both downwards. */
const byUpdate = (a: Listed, b: Listed) =>
  b.head.updateTime.getTime() - a.head.updateTime.getTime() || (a.id < b.id ? 1 : -1);

/**
 * A page of the caller's conversations, newest update first; those in the bin on request. The owner is
 * part of the query, so no page token can reach another's. Throws PAGE_TOKEN_INVALID.
 */
export async function listConversations(
  dependencies: Pick<ChatDependencies, 'store' | 'signer'>,
  page: ConversationPage,
): Promise<{ conversations: Listed[]; nextPageToken?: string }> {
  const { pageSize, showDeleted = false } = page;
  const states = showDeleted ? (['live', 'deleted'] as const) : (['live'] as const);
  const pages = await Promise.all(states.map((state) => readPage(dependencies, page, state)));
  const found = pages.flat().toSorted(byUpdate);
  const conversations = found.slice(0, pageSize);
  const last = conversations.at(-1);
  if (found.length <= pageSize || !last) return { conversations };
  const nextPageToken = encodePageToken(dependencies.signer, scopeOf(page), {
    t: last.head.updateTime.getTime(),
    id: last.id,
  });
  return { conversations, nextPageToken };
}
