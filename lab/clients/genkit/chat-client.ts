import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import {
  conversationResponse,
  type ConversationView,
} from '#shared/wire/resources/conversations.ts';
import { messageListResponse, type MessageView } from '#shared/wire/resources/messages.ts';
import { turnResponse, type TurnView } from '#shared/wire/resources/turns.ts';
import type { ChatServer } from '#test/support/chat/chat-server.ts';

/** An answer of the API that is an error. */
export class Refusal extends Error {
  readonly status: string;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  constructor(error: z.infer<typeof errorBody>['error']) {
    super(error.message);
    this.status = error.status;
    this.reason = error.details[0].reason;
    this.metadata = error.details[0].metadata ?? {};
  }
}

const detail = z.looseObject({
  reason: z.string(),
  metadata: z.record(z.string(), z.string()).optional(),
});
const errorBody = z.object({
  error: z.object({
    status: z.string(),
    message: z.string(),
    details: z.tuple([detail], z.unknown()),
  }),
});

const frameSchema = z.looseObject({ type: z.string() });
/** One event of a stream. */
export type Frame = z.infer<typeof frameSchema>;

/** A turn whose stream is open. */
export interface OpenTurn {
  turnId: string;
  /** Reads the stream to its end. */
  frames(): Promise<Frame[]>;
  /** Closes the connection and nothing else. */
  leave(): void;
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Refusal(errorBody.parse(await response.json()).error);
}

async function readFrames(response: Response): Promise<Frame[]> {
  const frames: Frame[] = [];
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events ?? [])
    if (data !== '[DONE]') frames.push(frameSchema.parse(JSON.parse(data)));
  return frames;
}

/** The calls of our API that the adapter makes. All throw `Refusal` for an answer that is an error. */
export function createChatClient(server: ChatServer) {
  const json = async (path: string, body?: unknown): Promise<unknown> => {
    const method = body === undefined ? 'GET' : 'POST';
    const response = await server.call(`/v1/conversations${path}`, { method, body });
    return (await checked(response)).json();
  };
  return {
    /** Posts what starts or continues a turn. */
    open: async (path: string, body: object): Promise<OpenTurn> => {
      const left = new AbortController();
      const response = await checked(
        await server.call(`/v1/conversations${path}`, {
          body,
          headers: { accept: 'text/event-stream' },
          signal: left.signal,
        }),
      );
      return {
        turnId: z.string().parse(response.headers.get('x-turn-id')),
        frames: () => readFrames(response),
        leave: () => left.abort(),
      };
    },
    create: (body: object) => json('', body),
    conversation: async (id: string): Promise<ConversationView> =>
      conversationResponse.parse(await json(`/${id}`)),
    turn: async (id: string, turnId: string): Promise<TurnView> =>
      turnResponse.parse(await json(`/${id}/turns/${turnId}`)),
    cancel: async (id: string, turnId: string): Promise<TurnView> =>
      turnResponse.parse(await json(`/${id}/turns/${turnId}:cancel`, {})),
    fork: async (id: string, messageId: string): Promise<string> =>
      conversationResponse.parse(await json(`/${id}:fork`, { messageId })).id,
    /** The transcript, oldest first. */
    messages: async (id: string): Promise<MessageView[]> =>
      messageListResponse.parse(await json(`/${id}/messages?pageSize=100&order=asc`)).messages,
  };
}

export type ChatClient = ReturnType<typeof createChatClient>;
