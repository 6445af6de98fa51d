import type { ChatDependencies } from '../chat-dependencies.ts';
import {
  decodeConversation,
  type Conversation,
  UnreadableConversationError,
} from '#shared/conversation/documents/conversation.ts';
import { CONVERSATIONS, conversationPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import type { Caller, StoredDocument } from '#shared/ports/ports.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { decodePageToken, encodePageToken, type PageScope } from '#shared/store/page-token.ts';
import { z } from 'zod';

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
  conversation: Conversation;
}

/** What a query found: its place in the order is known, whoever wrote the rest. */
interface Found {
  id: string;
  updateTime: Date;
  /** Undefined: it cannot be read here. */
  conversation: Conversation | undefined;
}

type ListDependencies = Pick<ChatDependencies, 'store' | 'sha256' | 'logger'>;

/** What is no time stands before all times in the order of the query. */
const BEFORE_ALL = new Date('9999-12-31T23:59:59.999Z');
const orderedSchema = z.object({ updateTime: z.date().catch(BEFORE_ALL) });

/**
 * During a deployment, or after it was taken back, one conversation may be of a later version; one may not be readable
 * any more. It is left out and logged, so that its owner sees the others. What asks for it by its id is told.
 */
function foundIn({ logger }: Pick<ListDependencies, 'logger'>, document: StoredDocument): Found {
  const id = idOf(document.path);
  const { updateTime } = orderedSchema.parse(document.fields);
  try {
    return { id, updateTime, conversation: decodeConversation(document).value };
  } catch (error) {
    if (!(error instanceof NewerDocumentError || error instanceof UnreadableConversationError))
      throw error;
    const { message: problem, reason } = error;
    logger.log('WARNING', 'conversation_not_listed', { conversationId: id, problem, reason });
    return { id, updateTime, conversation: undefined };
  }
}

const scopeOf = ({ caller, showDeleted = false }: ConversationPage): PageScope => ({
  uid: caller.uid,
  list: 'conversations',
  parameters: { showDeleted },
});

/** One conversation more than a page has, so that the next page is known of. */
async function readPage(
  dependencies: ListDependencies,
  page: ConversationPage,
  state: 'live' | 'deleted',
): Promise<Found[]> {
  const { store, sha256 } = dependencies;
  const { caller, pageSize, pageToken: token } = page;
  const place = decodePageToken(sha256, scopeOf(page), { schema: placeSchema, token });
  const documents = await store.query({
    collection: CONVERSATIONS,
    where: [
      { field: 'ownerUid', op: '==', value: caller.uid },
      { field: 'state', op: '==', value: state },
    ],
    orderBy: { field: 'updateTime', direction: 'desc' },
    limit: pageSize + 1,
    ...(place && { startAfter: { value: new Date(place.t), path: conversationPath(place.id) } }),
  });
  return documents.map((document) => foundIn(dependencies, document));
}

/** As the query orders them: newest update first, then the id, both downwards. */
const byUpdate = (a: Found, b: Found) =>
  b.updateTime.getTime() - a.updateTime.getTime() || (a.id < b.id ? 1 : -1);

/**
 * A page of the caller's conversations, newest update first; those in the bin on request. The owner is
 * part of the query, so no page token can reach another's. A page is shorter by those that a later version of the
 * service wrote. Throws PAGE_TOKEN_INVALID.
 */
export async function listConversations(
  dependencies: ListDependencies,
  page: ConversationPage,
): Promise<{ conversations: Listed[]; nextPageToken?: string }> {
  const { pageSize, showDeleted = false } = page;
  const states = showDeleted ? (['live', 'deleted'] as const) : (['live'] as const);
  const pages = await Promise.all(states.map((state) => readPage(dependencies, page, state)));
  const found = pages.flat().toSorted(byUpdate);
  const shown = found.slice(0, pageSize);
  const conversations = shown.flatMap(({ id, conversation }) =>
    conversation ? [{ id, conversation }] : [],
  );
  const last = shown.at(-1);
  if (found.length <= pageSize || !last) return { conversations };
  const nextPageToken = encodePageToken(dependencies.sha256, scopeOf(page), {
    t: last.updateTime.getTime(),
    id: last.id,
  });
  return { conversations, nextPageToken };
}
