import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { TurnView } from '#shared/wire/resources/turns.ts';
import type { PinListView } from '#shared/wire/resources/pins.ts';
import type { RatingView } from '#shared/wire/resources/ratings.ts';
import type { OpenStream, Requester } from './requester.ts';

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

/** The model is told what time it is for the user. */
const clientContext = (locale: string) => ({
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  locale,
});

/** The calls about compactions of one conversation. */
const compactionCalls = (json: Requester['json'], base: string) => ({
  compactions: (pageToken?: string) =>
    json<Page<'compactions', CompactionRecordView>>({
      method: 'GET',
      path: `${base}/compactions`,
      query: { pageToken },
    }),
  compaction: (generation: number) =>
    json<CompactionRecordView>({ method: 'GET', path: `${base}/compactions/${generation}` }),
  rate: (generation: number, score: number) =>
    json<RatingView>({
      method: 'POST',
      path: `${base}/compactions/${generation}:rate`,
      body: { score },
    }),
  compact: (focus?: string) =>
    json<{ jobId: string }>({ method: 'POST', path: `${base}:compact`, body: { focus } }),
  cancelCompaction: (jobId: string) =>
    json<unknown>({ method: 'POST', path: `${base}/compactions/${jobId}:cancel` }),
});

/** The calls of one conversation. All throw ApiError. */
function conversationApi({ json, stream, blob }: Requester, id: string) {
  const base = `/v1/conversations/${id}`;
  return {
    read: () => json<ConversationWithContext>({ method: 'GET', path: base }),
    change: (body: object, updateMask: string) =>
      json<ConversationView>({ method: 'PATCH', path: base, query: { updateMask }, body }),
    /** Into the bin, and out of it. */
    remove: () => json<unknown>({ method: 'DELETE', path: base }),
    undelete: () => json<unknown>({ method: 'POST', path: `${base}:undelete` }),
    /** Turns after `afterSeq`, the oldest first. */
    messages: (afterSeq: number, pageSize: number) =>
      json<Page<'messages', MessageView>>({
        method: 'GET',
        path: `${base}/messages`,
        query: { afterSeq, pageSize },
      }),
    turn: (turnId: string) => json<TurnView>({ method: 'GET', path: `${base}/turns/${turnId}` }),
    cancel: (turnId: string) =>
      json<TurnView>({ method: 'POST', path: `${base}/turns/${turnId}:cancel` }),
    /** Starts the answer, or attaches to it. */
    ask: (request: AnswerRequest, options: { locale: string; signal: AbortSignal }) => {
      const { path, body } = askFor(request);
      return stream({
        method: 'POST',
        path: `${base}${path}`,
        body: {
          ...body,
          locale: options.locale,
          // A turn that goes on has the time of its message.
          ...(request.kind !== 'results' && { clientContext: clientContext(options.locale) }),
        },
        signal: options.signal,
      });
    },
    /** The rest of an answer after a frame; all of it without one. */
    follow: (
      turnId: string,
      after: { startingAfter: number | undefined; signal: AbortSignal },
    ): Promise<OpenStream> =>
      stream({
        method: 'GET',
        path: `${base}/turns/${turnId}/stream`,
        query: { startingAfter: after.startingAfter },
        signal: after.signal,
      }),
    context: (generation?: number) =>
      json<ContextView>({ method: 'GET', path: `${base}/context`, query: { generation } }),
    ...compactionCalls(json, base),
    restore: (generation: number, requestId: string) =>
      json<CompactionRecordView>({
        method: 'POST',
        path: `${base}:restore`,
        body: { generation, requestId },
      }),
    pins: () => json<PinListView>({ method: 'GET', path: `${base}/pins` }),
    pin: (pinId: string, text: string) =>
      json<unknown>({ method: 'PUT', path: `${base}/pins/${pinId}`, body: { text } }),
    unpin: (pinId: string) => json<unknown>({ method: 'DELETE', path: `${base}/pins/${pinId}` }),
    export: (format: 'jsonl' | 'markdown') =>
      blob({ method: 'GET', path: `${base}:export`, query: { format } }),
  };
}

export type ConversationApi = ReturnType<typeof conversationApi>;

/** The public API as the page uses it; nothing else of the service is called. */
export function createChatApi(requester: Requester) {
  return {
    conversations: (pageToken?: string) =>
      requester.json<Page<'conversations', ConversationView>>({
        method: 'GET',
        path: '/v1/conversations',
        query: { pageToken },
      }),
    create: (body: object) =>
      requester.json<ConversationView>({ method: 'POST', path: '/v1/conversations', body }),
    conversation: (id: string) => conversationApi(requester, id),
    raw: requester.raw,
  };
}

export type ChatApi = ReturnType<typeof createChatApi>;
