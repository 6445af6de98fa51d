import { abortedError } from '#functions/lib/async-iterators.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import type { AppError } from '#shared/lib/errors.ts';
import { once } from '#shared/lib/once.ts';
import type {
  ModelChunk,
  ModelGenerator,
  ModelRequest,
  ModelResponse,
  ModelStreamer,
  Prompt,
  TokenCounter,
} from '#shared/ports/ports.ts';
import { type AttemptTimeout, createAttemptTimeout } from '../attempt-timeout.ts';
import { type ModelCall, overloadedError, translateError } from '../model-errors.ts';
import { toCountParameters, toGenerateParameters, type Platform } from './gemini-request.ts';
import { isFinal, toModelResponse } from './gemini-response.ts';
import { openStream } from './gemini-stream.ts';
import { fetchWhole } from './gemini-transport.ts';
import type { GoogleGenAI } from '@google/genai';
import { setTimeout as delay } from 'node:timers/promises';

/** Retries after the first attempt. */
const mostRetries = 2;
/** Without RetryInfo: full jitter below 0.25 s, 0.5 s, … and never above 4 s. */
const firstDelayMs = 250;
const longestDelayMs = 4_000;
/** A longer RetryInfo is the caller's to wait for: a user or a lease would not. */
const longestRetryInfoMs = 10_000;

/**
 * How long to wait before the next attempt, in milliseconds; undefined: not again. Only quota and
 * overload are tried again; a timeout has used its time, a refusal stays one.
 */
export function retryDelayMs(
  failure: AppError,
  attempt: number,
  random: number,
): number | undefined {
  if (attempt >= mostRetries) return undefined;
  const backoffMs = random * Math.min(longestDelayMs, firstDelayMs * 2 ** attempt);
  if (failure.reason === 'MODEL_OVERLOADED') return backoffMs;
  if (failure.reason !== 'MODEL_QUOTA') return undefined;
  // A little later than asked: everybody who was refused at once was asked for the same moment.
  const delayMs = (failure.retryAfterMs ?? 0) + backoffMs;
  return (failure.retryAfterMs ?? 0) > longestRetryInfoMs ? undefined : delayMs;
}

/** Waits for the next attempt. Throws `failure` when there is to be none, ABORTED when the signal fires. */
async function waitForRetry(options: {
  failure: AppError;
  attempt: number;
  signal: AbortSignal;
}): Promise<void> {
  const { failure, attempt, signal } = options;
  const delayMs = retryDelayMs(failure, attempt, Math.random());
  if (delayMs === undefined) throw failure;
  try {
    await delay(delayMs, undefined, { signal });
  } catch {
    throw abortedError();
  }
}

/** What a stream has told of its end so far. */
export interface StreamEnd {
  see(chunk: ModelChunk): void;
  /** Counts time that the next event was waited for, ms. */
  waited(ms: number): void;
  /** Whether a stream that is closed now was closed behind a finish. */
  isOver(): boolean;
  /** Whether the answer is whole, whatever befalls its connection. */
  isWhole(): boolean;
  /** How much longer the next event of a whole answer is waited for, ms. */
  leftMs(): number;
}

/** Whether a chunk goes on with the answer: by text, a call or a file. */
const goesOn = ({ parts }: ModelChunk): boolean =>
  parts.some(
    ({ text = '', thought, functionCall, inlineData, fileData }) =>
      (text !== '' && thought !== true) || (functionCall ?? inlineData ?? fileData) !== undefined,
  );

/** A server that keeps its connection alive sends events without anything. */
const isEmpty = ({ parts, usage, grounding, ...others }: ModelChunk): boolean =>
  parts.length === 0 && !usage && !grounding && !isFinal({ parts, ...others });

/**
 * Some servers name a finish reason on the first event, or on every one. A finish proves nothing where it comes before
 * any word, or where more of the answer follows: then the answer is whole only if the stream is closed behind a finish.
 * `graceMs`: how long what follows a finish is waited for, from each event on.
 */
export function createStreamEnd(graceMs: number): StreamEnd {
  let hasBegun = false;
  let isOver = false;
  let isDoubted = false;
  let leftMs = 0;
  return {
    see(chunk) {
      const hasMore = goesOn(chunk);
      isDoubted ||= isOver && hasMore;
      isDoubted ||= chunk.finishReason === 'STOP' && !hasBegun && !hasMore;
      hasBegun ||= hasMore;
      isOver = isFinal(chunk) || (isOver && !hasMore);
      if (!isEmpty(chunk)) leftMs = graceMs;
    },
    waited: (ms) => void (leftMs -= ms),
    isOver: () => isOver,
    isWhole: () => isOver && !isDoubted,
    leftMs: () => Math.max(0, leftMs),
  };
}

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

interface Attempt {
  call: ModelCall;
  client: Client;
  options: GeminiModelOptions;
  signal: AbortSignal;
}

/** Repeats `work` while its failure allows it. Throws AppErrors only. */
async function withRetries<T>({ call, signal }: Attempt, work: () => Promise<T>): Promise<T> {
  for (let count = 0; ; count += 1) {
    try {
      return await work();
    } catch (error) {
      const failure = translateError(call, error);
      await waitForRetry({ failure, attempt: count, signal });
    }
  }
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
      await waitForRetry({ failure, attempt: count, signal });
    } finally {
      attemptTimeout.release();
    }
  }
}

/** Asks once for what comes whole. */
async function askOnce<T>(
  { call, options, signal }: Attempt,
  waitedFor: string,
  ask: (platform: Platform & { signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const attemptTimeout = createAttemptTimeout(call, signal);
  try {
    const isVertex = options.vertex !== undefined;
    const asked = ask({ isVertex, signal: attemptTimeout.signal });
    const limit = { timeoutMs: options.requestTimeoutMs, waitedFor };
    return await attemptTimeout.within(asked, limit);
  } finally {
    attemptTimeout.release();
  }
}

async function generateOnce(attempt: Attempt, request: ModelRequest): Promise<ModelResponse> {
  const { call, client } = attempt;
  const answer = await askOnce(attempt, 'the answer', async (platform) => {
    const { models } = await client();
    return models.generateContent(toGenerateParameters(request, platform));
  });
  const response = toModelResponse(call, answer);
  if (isFinal(response)) return response;
  throw overloadedError(call, 'the answer has no finishReason');
}

async function countOnce(attempt: Attempt, prompt: Prompt): Promise<number> {
  const { call, client } = attempt;
  const { totalTokens } = await askOnce(attempt, 'the count', async (platform) => {
    const parameters = toCountParameters(prompt, platform);
    if (parameters === undefined) return { totalTokens: 0 };
    const { models } = await client();
    return models.countTokens(parameters);
  });
  if (totalTokens !== undefined) return totalTokens;
  throw overloadedError(call, 'the answer has no totalTokens');
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
  const attemptAt = (
    operation: ModelCall['operation'],
    { model, promptId }: Pick<ModelRequest, 'model' | 'promptId'>,
    signal: AbortSignal,
  ): Attempt => ({ call: { operation, model, promptId }, client, options, signal });
  return {
    // Behind what is on its way out in this turn of the event loop. What fails is told by the call.
    prepare: once(() => void setImmediate(() => void ignoreRejection(client()))),
    stream: (request, signal) => stream(attemptAt('stream', request, signal), request),
    generate: (request, signal) => {
      const attempt = attemptAt('generate', request, signal);
      return withRetries(attempt, () => generateOnce(attempt, request));
    },
    countTokens: (prompt, signal) => {
      const attempt = attemptAt('countTokens', { ...prompt, promptId: 'count' }, signal);
      return withRetries(attempt, () => countOnce(attempt, prompt));
    },
  };
}
