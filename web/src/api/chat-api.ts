import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type {
  CompactionDetailView,
  CompactionRecordView,
} from '#shared/wire/resources/compaction.ts';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import type { InboxEntryView } from '#shared/wire/resources/inbox.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { SearchAllView } from '#shared/wire/resources/search.ts';
import type { TurnView } from '#shared/wire/resources/turns.ts';
import type { PinListView } from '#shared/wire/resources/pins.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { Call, OpenStream, Requester } from './requester.ts';

export type ConversationWithContext = ConversationView & { context: ContextObject };

/** What the app says to one call of the model. */
export type ToolResult = { callId: string } & (
  { output: unknown } | { error: string } | { approved: boolean }
);

/** What asks for an answer; the same request again attaches to the same turn. */
export type AnswerRequest =
  | { kind: 'send'; messageId: string; text: string }
  | { kind: 'edit'; messageId: string; text: string; editedId: string }
  | { kind: 'regenerate'; messageId: string; text: string; answerId: string }
  | { kind: 'results'; messageId: string; text: string; turnId: string; results: ToolResult[] };

/** A page of a list; what it lists has the name of the resource. */
type Page<Name extends string, Entry> = Record<Name, Entry[]> & { nextPageToken?: string };

const askFor = (request: AnswerRequest): { path: string; body: object } => {
  const parts = [{ type: 'text', text: request.text }];
  const { messageId: id } = request;
  switch (request.kind) {
    case 'send':
      return { path: '/messages', body: { message: { id, parts } } };
    case 'edit':
      return { path: `/messages/${request.editedId}:edit`, body: { message: { id, parts } } };
    case 'regenerate':
      return { path: `/messages/${request.answerId}:regenerate`, body: { id } };
    case 'results':
      return { path: `/turns/${request.turnId}/toolResults`, body: { results: request.results } };
  }
};

/** The calls of one conversation. All throw ApiError. */
function conversationApi({ json, stream }: Pick<Requester, 'json' | 'stream'>, id: string) {
  const base = `/v1/conversations/${id}`;
  const call = <T>(
    method: Call['method'],
    path: string,
    given?: Pick<Call, 'query' | 'body'>,
  ): Promise<T> => json({ method, path: `${base}${path}`, ...given });
  return {
    read: () => call<ConversationWithContext>('GET', ''),
    change: (body: object, updateMask: string) =>
      call<ConversationView>('PATCH', '', { query: { updateMask }, body }),
    /** The answers up to this turn were seen. */
    markRead: (seq: number) => call<InboxEntryView>('POST', ':read', { body: { seq } }),
    /** Into the bin, and out of it. */
    remove: () => call<unknown>('DELETE', ''),
    undelete: () => call<unknown>('POST', ':undelete'),
    /** Turns after `afterSeq`, the oldest first. */
    messages: (afterSeq: number, pageSize: number) =>
      call<Page<'messages', MessageView>>('GET', '/messages', { query: { afterSeq, pageSize } }),
    turn: (turnId: string) => call<TurnView>('GET', `/turns/${turnId}`),
    cancel: (turnId: string) => call<TurnView>('POST', `/turns/${turnId}:cancel`),
    /** Starts the answer, or attaches to it. */
    ask: (request: AnswerRequest, signal: AbortSignal): Promise<OpenStream> => {
      const { path, body } = askFor(request);
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      // The model is told what time it is for the user; a turn that goes on has the time of its message.
      const context = request.kind === 'results' ? {} : { clientContext: { timeZone } };
      return stream({
        method: 'POST',
        path: `${base}${path}`,
        body: { ...body, ...context },
        signal,
      });
    },
    /** The rest of an answer after a frame; all of it without one. */
    follow: (turnId: string, startingAfter: number | undefined, signal: AbortSignal) =>
      stream({
        method: 'GET',
        path: `${base}/turns/${turnId}/stream`,
        query: { startingAfter },
        signal,
      }),
    context: (generation?: number) =>
      call<ContextView>('GET', '/context', { query: { generation } }),
    compactions: (pageToken?: string) =>
      call<Page<'compactions', CompactionRecordView>>('GET', '/compactions', {
        query: { pageToken },
      }),
    compaction: (generation: number) =>
      call<CompactionDetailView>('GET', `/compactions/${generation}`),
    compact: () => call<unknown>('POST', ':compact', { body: {} }),
    cancelCompaction: (jobId: string) => call<unknown>('POST', `/compactions/${jobId}:cancel`),
    restore: (generation: number, requestId: string) =>
      call<unknown>('POST', ':restore', { body: { generation, requestId } }),
    pins: () => call<PinListView>('GET', '/pins'),
    pin: (pinId: string, text: string) =>
      call<unknown>('PUT', `/pins/${pinId}`, { body: { text } }),
    unpin: (pinId: string) => call<unknown>('DELETE', `/pins/${pinId}`),
  };
}

export type ConversationApi = ReturnType<typeof conversationApi>;

export interface ListQuery {
  list: 'active' | 'archived';
  /** Only those. */
  pinned?: true;
  pageToken?: string | undefined;
}

/** The public API as the page uses it; nothing else of the service is called. */
export function createChatApi({ json, stream, events }: Requester) {
  return {
    conversations: (query: ListQuery) =>
      json<Page<'conversations', InboxEntryView>>({
        method: 'GET',
        path: '/v1/conversations',
        query: { ...query },
      }),
    /** Messages and titles of all conversations. */
    search: (q: string, pageToken: string | undefined) =>
      json<SearchAllView>({ method: 'GET', path: '/v1/users/me/search', query: { q, pageToken } }),
    /** What changes in the list, after a cursor. Throws ApiError OFFLINE when the connection is cut. */
    events: async function* userEvents(
      cursor: string | undefined,
      signal: AbortSignal,
    ): AsyncGenerator<{ id: string | undefined; event: UserEvent }> {
      const path = '/v1/users/me/events';
      for await (const { id, data } of events({ method: 'GET', path, query: { cursor }, signal }))
        yield { id, event: JSON.parse(data) };
    },
    conversation: (id: string) => conversationApi({ json, stream }, id),
  };
}

export type ChatApi = ReturnType<typeof createChatApi>;
