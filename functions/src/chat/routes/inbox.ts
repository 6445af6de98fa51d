import { json, userRoute } from '../route.ts';
import { isKnownTo } from '../conversations/etag.ts';
import { listConversations } from '../inbox/list-conversations.ts';
import { userEventsReply } from '../inbox/event-stream.ts';
import { markRead } from '../inbox/mark-read.ts';
import { conversationParams } from '#shared/wire/fields.ts';
import {
  conversationListResponse,
  inboxEntryResponse,
  inboxEntryView,
  listConversationsQuery,
  readBody,
  claimBody,
  claimResponse,
} from '#shared/wire/resources/inbox.ts';
import { userEventResponse, userEventsQuery } from '#shared/wire/resources/user-events.ts';
import { claimGuest } from '../inbox/claim-guest.ts';

export const listConversationsRoute = userRoute({
  operation: 'listConversations',
  summary:
    'The caller’s conversations as a list shows them, the one that the user wrote to last first.',
  query: listConversationsQuery,
  response: conversationListResponse,
  statuses: [200, 304],
  requestHeaders: {
    'If-None-Match': 'An ETag of this page; 304 without a body when nothing on it has changed.',
  },
  responseHeaders: { ETag: 'Changes with everything that the page shows.' },
  handle: async (dependencies, { caller, query, header }) => {
    const { entries, version, ...page } = await listConversations(dependencies, {
      caller,
      ...query,
    });
    const etag = `"${version.slice(0, 24)}"`;
    if (isKnownTo(header('if-none-match'), etag))
      return { kind: 'empty', status: 304, headers: { etag } };
    const conversations = entries.flatMap(({ id, entry }) =>
      entry ? [inboxEntryView(id, entry)] : [],
    );
    return { kind: 'json', headers: { etag }, body: { conversations, ...page } };
  },
});

export const readConversationRoute = userRoute({
  operation: 'readConversation',
  summary: 'Notes that the user has read the answers up to a turn, on whichever device.',
  params: conversationParams,
  body: readBody,
  response: inboxEntryResponse,
  example: { seq: 3 },
  handle: async (dependencies, { caller, params, body }) => {
    const { conversationId } = params;
    const entry = await markRead(dependencies, { caller, conversationId, ...body });
    return json(inboxEntryView(conversationId, entry));
  },
});

export const userEventsRoute = userRoute({
  operation: 'listUserEvents',
  summary:
    'What changes in the caller’s list of conversations, as an event stream: new and changed messages by their turns. It ends after five minutes with `reconnect`; come back with the cursor.',
  query: userEventsQuery,
  response: userEventResponse,
  media: ['text/event-stream'],
  requestHeaders: { 'Last-Event-ID': 'As `cursor`.' },
  errors: ['USER_STREAMS'],
  handle: (dependencies, { caller, query, header, left }) => {
    const cursor = query.cursor ?? header('last-event-id')?.trim();
    return userEventsReply(dependencies, { caller, cursor, once: query.once, left });
  },
});

export const claimGuestRoute = userRoute({
  operation: 'claimGuest',
  isSensitive: true,
  summary:
    'Moves everything of a guest, an anonymous user, to the caller, who has signed in: conversations, those in the bin too, files, notes and devices.',
  body: claimBody,
  response: claimResponse,
  errors: [
    'APP_CHECK_REPLAYED',
    'CALLER_IS_GUEST',
    'GUEST_TOKEN_INVALID',
    'GUEST_CLAIMED',
    'FILES_UNAVAILABLE',
  ],
  example: { guestToken: 'eyJhbGciOiJSUzI1NiIs…' },
  handle: async (dependencies, { caller, body }) =>
    json(await claimGuest(dependencies, { caller, ...body })),
});
