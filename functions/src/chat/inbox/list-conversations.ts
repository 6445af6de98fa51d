import type { ChatDependencies } from '../chat-dependencies.ts';
import { decodeInboxEntry, type InboxEntry } from '#shared/conversation/documents/inbox.ts';
import { inboxCollection, inboxPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import type { Caller, StoredDocument } from '#shared/ports/ports.ts';
import { lastSegment } from '#shared/store/names.ts';
import { decodePageToken, encodePageToken, type PageScope } from '#shared/store/page-token.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { z } from 'zod';

/** The latest time that the store takes, ms since 1970: the last one of the year 9999. */
export const LATEST_MS = 253_402_300_799_999;

/** Active time (ms since 1970) and id of the last entry of a page. */
const placeSchema = z.strictObject({
  t: z.number().int().min(0).max(LATEST_MS),
  id: conversationIdSchema,
});

interface InboxPage {
  caller: Caller;
  /** Absent: all of them. */
  list?: Exclude<InboxEntry['list'], 'gone'>;
  /** Only these; absent or false: all. */
  pinned?: boolean;
  unread?: boolean;
  pageSize: number;
  pageToken?: string | undefined;
}

export interface ListedEntry {
  id: string;
  /** Undefined: a later version of the service wrote it. */
  entry: InboxEntry | undefined;
}

type ListDependencies = Pick<ChatDependencies, 'store' | 'sha256' | 'logger'>;

const scopeOf = ({ caller, list, pinned = false, unread = false }: InboxPage): PageScope => ({
  uid: caller.uid,
  list: 'inbox',
  parameters: { list: list ?? 'all', pinned, unread },
});

/**
 * During a deployment, or after it was taken back, one entry may be of a later version. It is logged, and its owner sees
 * the others.
 */
export function readableEntry(
  { logger }: Pick<ListDependencies, 'logger'>,
  document: StoredDocument,
): InboxEntry | undefined {
  try {
    return decodeInboxEntry(document);
  } catch (error) {
    if (!(error instanceof NewerDocumentError)) throw error;
    const { message: problem, reason } = error;
    const conversationId = lastSegment(document.path);
    logger.log('WARNING', 'conversation_not_listed', { conversationId, problem, reason });
    return undefined;
  }
}

/** What is no time stands before all times in the order of the query. */
const BEFORE_ALL = new Date(LATEST_MS);
const orderedSchema = z.object({ activeTime: z.date().catch(BEFORE_ALL) });

/**
 * A page of the caller's conversations, the one with the newest message first, by one query; `version` changes with
 * everything that the page shows. Throws PAGE_TOKEN_INVALID.
 */
export async function listConversations(
  dependencies: ListDependencies,
  page: InboxPage,
): Promise<{ entries: ListedEntry[]; version: string; nextPageToken?: string }> {
  const { store, sha256 } = dependencies;
  const { caller, list, pageSize, pageToken: token } = page;
  const place = decodePageToken(sha256, scopeOf(page), { schema: placeSchema, token });
  const flags = (['pinned', 'unread'] as const).filter((name) => page[name] === true);
  const documents = await store.query({
    collection: inboxCollection(caller.uid),
    where: [
      ...(list === undefined ? [] : [{ field: 'list', op: '==' as const, value: list }]),
      ...flags.map((field) => ({ field, op: '==' as const, value: true })),
    ],
    orderBy: { field: 'activeTime', direction: 'desc' },
    // One more than the page has, so that the next page is known of.
    limit: pageSize + 1,
    ...(place && {
      startAfter: { value: new Date(place.t), path: inboxPath(caller.uid, place.id) },
    }),
  });
  const shown = documents.slice(0, pageSize);
  const entries = shown.map((document) => ({
    id: lastSegment(document.path),
    entry: readableEntry(dependencies, document),
  }));
  const version = sha256(
    documents.map(({ path, updateTime }) => `${path} ${updateTime}`).join('\n'),
  );
  const last = shown.at(-1);
  if (documents.length <= pageSize || !last) return { entries, version };
  const { activeTime } = orderedSchema.parse(last.fields);
  const nextPageToken = encodePageToken(sha256, scopeOf(page), {
    t: activeTime.getTime(),
    id: lastSegment(last.path),
  });
  return { entries, version, nextPageToken };
}
