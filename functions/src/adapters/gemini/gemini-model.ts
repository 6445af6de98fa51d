import type { GoogleGenAI } from '@google/genai';
import { once } from '#shared/once.ts';
import type {
  ModelChunk,
  ModelGenerator,
  ModelRequest,
  ModelResponse,
  ModelStreamer,
  Prompt,
  TokenCounter,
} from '#shared/ports/ports.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { type ModelCall, overloadedError, translateError } from './gemini-errors.ts';
import { createAttemptTimeout, type AttemptTimeout } from './attempt-timeout.ts';
import { toCountParameters, toGenerateParameters } from './gemini-request.ts';
import { isFinal, toModelResponse } from './gemini-response.ts';
import { waitForRetry } from './gemini-retry.ts';
import { openStream } from './gemini-stream.ts';
import { createStreamEnd, type StreamEnd } from './stream-end.ts';
import { fetchWhole } from './gemini-transport.ts';

export interface GeminiModelOptions {
  /** Of the Gemini API. With `vertex` it is sent instead of Google credentials. */
  apiKey?: string;
  /** Vertex AI with the credentials of the surroundings. */
  vertex?: { project: string; location: string };
  /** Another server than Google's. On the Gemini API no key is needed then. */
  baseUrl?: string;
  /** Bound of one attempt from its start to the first event of a stream. */
  firstEventTimeoutMs: number;
  /** Bound of the silence between two events of a stream. */
  eventIdleTimeoutMs: number;
  /** Bound of one attempt of `generate` and `countTokens`. */
  requestTimeoutMs: number;
}

type Client = () => Promise<GoogleGenAI>;
type EventBatch = IteratorResult<Iterable<ModelChunk>>;

/** The SDK costs up to a tenth of a second to load. */
export const loadGenai = () => import('@google/genai');

/** Nothing is loaded before the first call. */
function lazyClient(options: GeminiModelOptions): Client {
  const { vertex, baseUrl } = options;
  const apiKey =
    options.apiKey ?? (vertex === undefined && baseUrl !== undefined ? 'none' : undefined);
  if (vertex === undefined && apiKey === undefined) {
    throw new Error('a Gemini model needs an apiKey, vertex or a baseUrl');
  }
  let client: Promise<GoogleGenAI> | undefined;
  const create = async (): Promise<GoogleGenAI> => {
    const { GoogleGenAI: Sdk } = await loadGenai();
    // No retryOptions: the SDK would retry without RetryInfo and after bytes were received.
    const httpOptions = { fetch: fetchWhole, ...(baseUrl !== undefined && { baseUrl }) };
    return new Sdk({ enterprise: vertex !== undefined, ...vertex, apiKey, httpOptions });
  };
  return () => (client ??= create());
}

/** Repeats `attempt` while its failure allows it. Throws AppErrors only. */
async function withRetries<T>(
  call: ModelCall,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let count = 0; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const failure = translateError(call, error);
      await waitForRetry({ call, failure, attempt: count, signal });
    }
  }
}

interface Attempt {
  call: ModelCall;
  client: Client;
  options: GeminiModelOptions;
  signal: AbortSignal;
}

/** The events of one attempt: the first is there, the others are waited for. */
async function openOnce(
  { call, client, options }: Attempt,
  request: ModelRequest,
  attemptTimeout: AttemptTimeout,
): Promise<{ first: EventBatch; others: Pick<AsyncIterator<Iterable<ModelChunk>>, 'next'> }> {
  const open = async () => {
    const { signal } = attemptTimeout;
    const input = { call, request, signal, isVertex: options.vertex !== undefined };
    const events = await openStream(await client(), input);
    return { events, first: await events.next() };
  };
  const { events, first } = await attemptTimeout.within(open(), {
    timeoutMs: options.firstEventTimeoutMs,
    waitedFor: 'the first event',
  });
  const idle = { timeoutMs: options.eventIdleTimeoutMs, waitedFor: 'the next event' };
  return { first, others: attemptTimeout.each(events, idle) };
}

/**
 * How long behind a finish the usage or the end of the stream is waited for at most, from each event on, ms. Servers send
 * them with the finish; a connection that stays open must not cost the answer.
 */
const END_GRACE_MS = 5_000;

/** Waits for what follows in a stream. Behind a whole answer there is nothing more once its time is up. */
async function following(
  others: Pick<AsyncIterator<Iterable<ModelChunk>>, 'next'>,
  attemptTimeout: AttemptTimeout,
  end: StreamEnd,
): Promise<EventBatch> {
  if (!end.isWhole()) return others.next();
  const timeoutMs = end.leftMs();
  if (timeoutMs === 0) return { done: true, value: undefined };
  const since = performance.now();
  const limit = { timeoutMs, waitedFor: 'the end of the stream' };
  const next = await attemptTimeout.within(others.next(), limit);
  end.waited(performance.now() - since);
  return next;
}

async function* stream(
  attempt: Attempt,
  request: ModelRequest,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { call, options, signal } = attempt;
  const graceMs = Math.min(END_GRACE_MS, options.eventIdleTimeoutMs);
  for (let count = 0; ; count += 1) {
    let hasReceived = false;
    const end = createStreamEnd(graceMs);
    const attemptTimeout = createAttemptTimeout(call, signal);
    try {
      const { first, others } = await openOnce(attempt, request, attemptTimeout);
      for (
        let next = first;
        next.done !== true;
        next = await following(others, attemptTimeout, end)
      )
        for (const chunk of next.value) {
          end.see(chunk);
          hasReceived = true;
          yield chunk;
        }
      if (end.isOver()) return;
      throw overloadedError(call, 'the stream ended without a finishReason');
    } catch (error) {
      attemptTimeout.release();
      if (end.isWhole() && !signal.aborted) return;
      const failure = translateError(call, error);
      // What was received has been passed on: a second attempt would say it twice.
      if (hasReceived) throw failure;
      await waitForRetry({ call, failure, attempt: count, signal });
    } finally {
      attemptTimeout.release();
    }
  }
}

async function generateOnce(
  { call, client, options, signal }: Attempt,
  request: ModelRequest,
): Promise<ModelResponse> {
  const attemptTimeout = createAttemptTimeout(call, signal);
  try {
    const open = async () => {
      const { models } = await client();
      const platform = { isVertex: options.vertex !== undefined, signal: attemptTimeout.signal };
      return models.generateContent(toGenerateParameters(request, platform));
    };
    const limit = { timeoutMs: options.requestTimeoutMs, waitedFor: 'the answer' };
    const response = toModelResponse(call, await attemptTimeout.within(open(), limit));
    if (isFinal(response)) return response;
    throw overloadedError(call, 'the answer has no finishReason');
  } finally {
    attemptTimeout.release();
  }
}

async function countOnce(
  { call, client, options, signal }: Attempt,
  prompt: Prompt,
): Promise<number> {
  const attemptTimeout = createAttemptTimeout(call, signal);
  try {
    const isVertex = options.vertex !== undefined;
    const parameters = toCountParameters(prompt, { isVertex, signal: attemptTimeout.signal });
    if (parameters === undefined) return 0;
    const open = async () => {
      const { models } = await client();
      return models.countTokens(parameters);
    };
    const limit = { timeoutMs: options.requestTimeoutMs, waitedFor: 'the count' };
    const { totalTokens } = await attemptTimeout.within(open(), limit);
    if (totalTokens !== undefined) return totalTokens;
    throw overloadedError(call, 'the answer has no totalTokens');
  } finally {
    attemptTimeout.release();
  }
}

/**
 * Gemini over the Gemini API or Vertex AI, by the official SDK, which `prepare` loads; streams are read here. Errors are
 * those of the ports: at most two retries for quota, 5xx and network failures, and only while nothing of the answer was
 * passed on. An answer that says why it ends is whole, whatever befalls its connection; the usage is waited for some
 * seconds more. More of the answer behind a finish is part of it, and then the answer is whole only if the stream is
 * closed behind another. The caller's signal ends every wait. Leaving a stream early closes its connection. Throws an
 * Error at once when the options name no server.
 */
export function createGeminiModel(
  options: GeminiModelOptions,
): ModelStreamer & ModelGenerator & TokenCounter {
  const client = lazyClient(options);
  return {
    // Behind what is on its way out in this turn of the event loop. What fails is told by the call.
    prepare: once(() => void setImmediate(() => void ignoreRejection(client()))),
    stream: (request, signal) => {
      const { model, promptId } = request;
      const call: ModelCall = { operation: 'stream', model, promptId };
      return stream({ call, client, options, signal }, request);
    },
    generate: (request, signal) => {
      const { model, promptId } = request;
      const call: ModelCall = { operation: 'generate', model, promptId };
      return withRetries(call, signal, () =>
        generateOnce({ call, client, options, signal }, request),
      );
    },
    countTokens: (prompt, signal) => {
      const call: ModelCall = { operation: 'countTokens', model: prompt.model, promptId: 'count' };
      return withRetries(call, signal, () => countOnce({ call, client, options, signal }, prompt));
    },
  };
}
