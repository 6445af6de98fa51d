import { z } from 'zod';
import { contentText, partSchema } from '#shared/conversation/documents/content.ts';
import { type Answer, contextSchema, readAnswerStream, usageSchema } from './answer-stream.ts';
import { ChatRequestError, requestErrorOf } from './chat-request-error.ts';
import type { TranscriptMessage } from './transcript-check.ts';

const messagePageSchema = z.looseObject({
  messages: z.array(
    z.looseObject({
      id: z.string(),
      role: z.enum(['user', 'model', 'assistant']),
      parts: z.array(partSchema),
    }),
  ),
  nextPageToken: z.string().optional(),
});

const compactionSchema = z.looseObject({
  generation: z.number().nullish(),
  state: z.string(),
  trigger: z.string(),
  requestedAt: z.coerce.date(),
  finishedAt: z.coerce.date().nullish(),
  turnsFolded: z.number().nullish(),
  beforeTokens: z.number().nullish(),
  afterTokens: z.number().nullish(),
  calls: z.number().nullish(),
  durationMs: z.number().nullish(),
  reason: z.string().nullish(),
});
export type CompactionView = z.infer<typeof compactionSchema>;

const compactionPageSchema = z.looseObject({
  compactions: z.array(compactionSchema),
  nextPageToken: z.string().optional(),
});

const conversationSchema = z.looseObject({ context: contextSchema });

const answerBodySchema = z.looseObject({
  message: z.looseObject({ id: z.string(), parts: z.array(partSchema) }),
  context: contextSchema,
  usage: usageSchema.optional(),
});

interface ChatClientOptions {
  url: string;
  token: string;
  transport: 'sse' | 'json';
  /** Longest wait for one reply, streams included. */
  timeoutMs: number;
}

export interface OutgoingMessage {
  conversationId: string;
  messageId: string;
  texts: readonly string[];
}

const pageSize = 100;

/** The HTTP API as an app uses it: one method per call, no retries. All throw ChatRequestError. */
export class ChatClient {
  readonly #options: ChatClientOptions;

  constructor(options: ChatClientOptions) {
    this.#options = options;
  }

  /** Creates a conversation; one that is there already stays as it is. */
  async createConversation(conversation: {
    id: string;
    settings: object;
    systemInstruction?: string;
  }): Promise<void> {
    try {
      await this.#json('POST', '/v1/conversations', conversation);
    } catch (error) {
      if (!(error instanceof ChatRequestError && error.status === 409)) throw error;
    }
  }

  async send(message: OutgoingMessage): Promise<Answer> {
    const response = await this.#request(
      'POST',
      `/v1/conversations/${message.conversationId}/messages`,
      {
        message: {
          id: message.messageId,
          parts: message.texts.map((text) => ({ type: 'text', text })),
        },
      },
    );
    try {
      if (this.#options.transport === 'json') return readAnswerBody(await response.json());
      if (!response.body) throw new Error('the reply has no body');
      return await readAnswerStream(response.body);
    } catch (cause) {
      if (cause instanceof ChatRequestError) throw cause;
      throw unreachable('the answer broke off', cause);
    }
  }

  /** The whole transcript, oldest first. */
  async listMessages(conversationId: string): Promise<TranscriptMessage[]> {
    const pages = await this.#pages(
      `/v1/conversations/${conversationId}/messages?order=asc`,
      messagePageSchema,
    );
    return pages.flatMap((page) =>
      page.messages.map(({ id, role, parts }) => ({
        id,
        role: role === 'user' ? ('user' as const) : ('model' as const),
        text: contentText({ role: 'user', parts }),
      })),
    );
  }

  /** Every attempt, in the order in which they ended; several may serve one request. */
  async listCompactions(conversationId: string): Promise<CompactionView[]> {
    const pages = await this.#pages(
      `/v1/conversations/${conversationId}/compactions?`,
      compactionPageSchema,
    );
    return pages.flatMap((page) => page.compactions).toSorted((a, b) => endOf(a) - endOf(b));
  }

  async getContext(conversationId: string): Promise<z.infer<typeof contextSchema>> {
    const path = `/v1/conversations/${conversationId}`;
    return conversationSchema.parse(await this.#json('GET', path)).context;
  }

  async #pages<Page extends { nextPageToken?: string | undefined }>(
    path: string,
    schema: z.ZodType<Page>,
  ): Promise<Page[]> {
    const pages: Page[] = [];
    let token: string | undefined;
    do {
      const continued = token ? `&pageToken=${encodeURIComponent(token)}` : '';
      const page = schema.parse(
        await this.#json('GET', `${path}&pageSize=${pageSize}${continued}`),
      );
      pages.push(page);
      token = page.nextPageToken;
    } while (token);
    return pages;
  }

  async #json(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.#request(method, path, body);
    return response.json();
  }

  async #request(method: string, path: string, body?: object): Promise<Response> {
    const { url, token, transport, timeoutMs } = this.#options;
    const isStream = method === 'POST' && path.endsWith('/messages') && transport === 'sse';
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: isStream ? 'text/event-stream' : 'application/json',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (cause) {
      throw unreachable(`${method} ${url}${path} got no reply`, cause);
    }
    if (!response.ok) throw await requestErrorOf(response);
    return response;
  }
}

const endOf = ({ requestedAt, finishedAt }: CompactionView): number =>
  (finishedAt ?? requestedAt).getTime();

function unreachable(message: string, cause: unknown): ChatRequestError {
  // fetch itself says only "fetch failed"; what failed is its cause.
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new ChatRequestError({
    status: 0,
    reason: 'UNREACHABLE',
    message: `${message}: ${why}`,
    cause,
  });
}

function readAnswerBody(body: unknown): Answer {
  const { message, context, usage } = answerBodySchema.parse(body);
  return {
    messageId: message.id,
    text: contentText({ role: 'model', parts: message.parts }),
    finishReason: 'stop',
    context,
    generation: context.generation,
    ...(usage && { usage }),
  };
}
