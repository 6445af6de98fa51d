import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { contentText, partSchema } from '#shared/conversation/documents/content.ts';
import { ChatRequestError, requestErrorOf } from './chat-request-error.ts';

const usageSchema = z.looseObject({ promptTokens: z.number(), outputTokens: z.number() });

const contextSchema = z.looseObject({
  thresholdTokens: z.number().nullable(),
  generation: z.number(),
  compaction: z.looseObject({ state: z.string() }).nullable(),
});

const chunkSchema = z.looseObject({
  type: z.string(),
  messageId: z.string().optional(),
  delta: z.string().optional(),
  errorText: z.string().optional(),
  finishReason: z.string().optional(),
  messageMetadata: z
    .looseObject({ generation: z.number().optional(), usage: usageSchema.optional() })
    .optional(),
  data: z.unknown().optional(),
});

const answerBodySchema = z.looseObject({
  message: z.looseObject({ id: z.string(), parts: z.array(partSchema) }),
  context: contextSchema,
  usage: usageSchema.optional(),
});

const messagePageSchema = z.looseObject({
  messages: z.array(
    z.looseObject({ id: z.string(), role: z.string(), parts: z.array(partSchema) }),
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

/** An answer as the client has it in the end. */
interface Answer {
  messageId: string;
  text: string;
  finishReason: string;
  usage?: z.infer<typeof usageSchema> | undefined;
  /** The context object that closed the answer. */
  context?: z.infer<typeof contextSchema>;
  /** Of the context that the model saw. */
  generation: number;
}

/** A message as the transcript shows it, or as the client remembers it. */
export interface TranscriptMessage {
  id: string;
  role: 'user' | 'model';
  text: string;
}

const broken = (message: string): ChatRequestError =>
  new ChatRequestError({ status: 0, reason: 'STREAM_BROKEN', message });

function apply(answer: Answer, data: string): void {
  const chunk = chunkSchema.parse(JSON.parse(data));
  switch (chunk.type) {
    case 'start':
      // An attempt begins with it: what an earlier one said no longer holds.
      answer.text = '';
      answer.messageId = chunk.messageId ?? '';
      answer.generation = chunk.messageMetadata?.generation ?? 0;
      return;
    case 'text-delta':
      answer.text += chunk.delta ?? '';
      return;
    case 'data-context':
      answer.context = contextSchema.parse(chunk.data);
      return;
    case 'error':
      throw broken(`the answer ended in an error: ${chunk.errorText ?? 'without a text'}`);
    case 'finish':
      answer.finishReason = chunk.finishReason ?? '';
      answer.usage = chunk.messageMetadata?.usage;
      return;
    default:
      // The format allows further chunks; a client passes over what it does not know.
      return;
  }
}

/**
 * Reads a UI message stream to its end. Throws ChatRequestError STREAM_BROKEN when it reports an error
 * or ends without `finish` and `[DONE]`.
 */
export async function readAnswerStream(body: ReadableStream<Uint8Array>): Promise<Answer> {
  const answer: Answer = { messageId: '', text: '', finishReason: '', generation: 0 };
  let isDone = false;
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
  for await (const event of events) {
    if (event.data === '[DONE]') isDone = true;
    else apply(answer, event.data);
  }
  if (!isDone || answer.finishReason === '') throw broken('the stream ended before the answer did');
  return answer;
}

function readAnswerBody(body: unknown): Answer {
  const { message, context, usage } = answerBodySchema.parse(body);
  return {
    messageId: message.id,
    text: contentText({ role: 'model', parts: message.parts }),
    finishReason: 'stop',
    context,
    generation: context.generation,
    usage,
  };
}

interface ChatClientOptions {
  url: string;
  token: string;
  transport: 'sse' | 'json';
}

interface OutgoingMessage {
  conversationId: string;
  messageId: string;
  texts: readonly string[];
}

const PAGE_SIZE = 100;
/** Longest wait for one reply, streams included. */
const REPLY_TIMEOUT_MS = 300_000;

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
    systemInstruction?: string | undefined;
  }): Promise<void> {
    try {
      await this.#json('POST', '/v1/conversations', conversation);
    } catch (error) {
      if (!(error instanceof ChatRequestError && error.status === 409)) throw error;
    }
  }

  async send({ conversationId, messageId, texts }: OutgoingMessage): Promise<Answer> {
    const parts = texts.map((text) => ({ type: 'text', text }));
    const response = await this.#request('POST', `/v1/conversations/${conversationId}/messages`, {
      message: { id: messageId, parts },
    });
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
    const path = `/v1/conversations/${conversationId}/messages?order=asc`;
    const pages = await this.#pages(path, messagePageSchema);
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
    const path = `/v1/conversations/${conversationId}/compactions?`;
    const pages = await this.#pages(path, compactionPageSchema);
    const endOf = ({ requestedAt, finishedAt }: CompactionView): number =>
      (finishedAt ?? requestedAt).getTime();
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
        await this.#json('GET', `${path}&pageSize=${PAGE_SIZE}${continued}`),
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
    const { url, token, transport } = this.#options;
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
        signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
      });
    } catch (cause) {
      throw unreachable(`${method} ${url}${path} got no reply`, cause);
    }
    if (!response.ok) throw await requestErrorOf(response);
    return response;
  }
}

function unreachable(message: string, cause: unknown): ChatRequestError {
  // fetch itself says only "fetch failed"; what failed is its cause.
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = reason instanceof Error ? reason.message : String(reason);
  const text = `${message}: ${why}`;
  return new ChatRequestError({ status: 0, reason: 'UNREACHABLE', message: text, cause });
}

const GIVE_UP_AFTER_MS = 120_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** One message as it was sent and answered in the end. */
export interface Sent {
  answer: Answer;
  /** When the first try left, and how long it took to the end of the answer, retries included. */
  sentAt: Date;
  durationMs: number;
  retries: number;
}

/**
 * Sends until the message is answered, as an app does: the same message id, after the time that
 * Retry-After names, else after 250 ms and twice as long each time. Gives up after two minutes.
 * Throws the last ChatRequestError, at once when it is not retryable.
 */
export async function sendWithRetries(client: ChatClient, message: OutgoingMessage): Promise<Sent> {
  const sentAt = new Date();
  const startedAt = performance.now();
  for (let retries = 0; ; retries += 1) {
    try {
      const answer = await client.send(message);
      return { answer, sentAt, durationMs: performance.now() - startedAt, retries };
    } catch (error) {
      const isLate = performance.now() - startedAt > GIVE_UP_AFTER_MS;
      if (!(error instanceof ChatRequestError) || !error.isRetryable || isLate) throw error;
      const backOffMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** retries);
      await delay(error.retryAfterMs ?? backOffMs);
    }
  }
}
