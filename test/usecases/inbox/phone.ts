import { readAs, type ChatServer } from '#test/support/chat/chat-server.ts';
import { conversationListResponse, type InboxEntryView } from '#shared/wire/resources/inbox.ts';
import { type UserEvent, userEventResponse } from '#shared/wire/resources/user-events.ts';
import { randomUUID } from 'node:crypto';

/** A user’s phone: what it says, and what it is shown. */
export function phoneOf(chat: ChatServer, uid: string = randomUUID()) {
  const post = (path: string, body: unknown = {}) =>
    chat.call(`/v1/conversations/${path}`, { uid, body });
  return {
    uid,
    post,
    call: (path: string, options: { method?: string; body?: unknown } = {}) =>
      chat.call(path, { uid, ...options }),
    /** Sends a text; to a new conversation unless one is named. */
    async send(text: string, id: string = randomUUID(), more: object = {}) {
      const messageId = randomUUID();
      const message = { id: messageId, parts: [{ type: 'text', text }] };
      const response = await post(`${id}/messages`, { message, ...more });
      return { id, messageId, status: response.status };
    },
    async list(query = ''): Promise<InboxEntryView[]> {
      const page = await chat.call(`/v1/conversations?${query}`, { uid });
      return (await readAs(conversationListResponse, page)).conversations;
    },
  };
}

/** An event of a stream with the cursor behind it. */
export interface ReceivedEvent {
  id: string;
  event: UserEvent;
}

/** Reads the events of a user as they come; `stop` hangs up. */
export async function listen(
  chat: ChatServer,
  uid: string,
  cursor?: string,
  { once = false }: { once?: boolean } = {},
) {
  const stopping = new AbortController();
  const query = new URLSearchParams({
    once: String(once),
    ...(cursor !== undefined && { cursor }),
  });
  const response = await chat.call(`/v1/users/me/events?${query.toString()}`, {
    uid,
    headers: { accept: 'text/event-stream' },
    signal: stopping.signal,
  });
  if (response.status !== 200 || !response.body)
    throw new Error(`${response.status}: ${await response.text()}`);
  const pieces = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let text = '';
  /** The next event; undefined where the stream has ended. */
  async function next(): Promise<ReceivedEvent | undefined> {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end < 0) {
        const piece = await pieces.next();
        if (piece.done) return undefined;
        text += piece.value;
        continue;
      }
      const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (id === undefined || data === undefined) continue;
      return { id, event: userEventResponse.parse(JSON.parse(data)) };
    }
  }
  return {
    next,
    /** Events until one is as `isLast` says, that one included. */
    async until(isLast: (event: UserEvent) => boolean): Promise<ReceivedEvent[]> {
      const received: ReceivedEvent[] = [];
      for (let event = await next(); event; event = await next()) {
        received.push(event);
        if (isLast(event.event)) break;
      }
      return received;
    },
    stop: () => stopping.abort(),
  };
}
