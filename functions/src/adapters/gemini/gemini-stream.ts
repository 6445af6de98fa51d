import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { AnswerTooLarge, errorOfEvent, type ModelCall, overloadedError } from '../model-errors.ts';
import { toGenerateParameters, type Platform } from './gemini-request.ts';
import { toModelResponse } from './gemini-response.ts';
import { keepAnswer } from './gemini-transport.ts';
import type { GoogleGenAI } from '@google/genai';
import type { Readable } from 'node:stream';

/**
 * UTF-16 units that one event may have: of an answer 2 MiB are stored (ANSWER_MAX_BYTES), and its JSON may be twice as long
 * for what is escaped. What is longer is no stream of events.
 */
export const EVENT_MAX_CHARACTERS = 4 * 1024 * 1024;

/** Reads the `data` of server-sent events out of a text that comes in pieces. */
interface EventData {
  /** The data of the events that the piece has completed. Throws AnswerTooLarge for an event that does not end. */
  feed(piece: string): string[];
  /** What stood in no whole event so far: half of one, or a text that is none. */
  rest(): string;
}

/**
 * A reader of the part of the format that servers of models use: lines end with a line feed, with or without a carriage
 * return, an empty one ends an event, and of its fields `data` alone is told. Comments and other fields are passed over.
 */
function createEventData(): EventData {
  /** What has come of a line that has not ended. A piece is searched once, however long its line becomes. */
  let text = '';
  let data: string | undefined;
  let unknown = '';
  const take = (line: string) => {
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (!/^(?::|(?:event|id|retry)(?::|$))/.test(line)) unknown += `${line}\n`;
  };
  return {
    feed: (piece) => {
      const complete: string[] = [];
      let start = 0;
      for (;;) {
        const end = piece.indexOf('\n', start);
        if (end < 0) break;
        const line = (text + piece.slice(start, end)).replace(/\r$/, '');
        text = '';
        start = end + 1;
        if (line !== '') take(line);
        else if (data !== undefined) {
          complete.push(data);
          data = undefined;
        }
      }
      text += piece.slice(start);
      if (text.length + (data?.length ?? 0) + unknown.length > EVENT_MAX_CHARACTERS)
        throw new AnswerTooLarge(`an event has more than ${EVENT_MAX_CHARACTERS} characters`);
      return complete;
    },
    rest: () => `${unknown}${data === undefined ? '' : `data: ${data}\n`}${text}`.trim(),
  };
}

/** A text as it comes over a connection. */
interface Pieces {
  /** What has come and was not taken; undefined: nothing yet. */
  take(): string | undefined;
  /** The next piece as soon as it comes; undefined at the end. Throws what breaks the connection. */
  next(): Promise<string | undefined>;
}

/** UTF-16 units that wait for a slow reader at most, before the connection is held up. */
const WAITING_MAX_CHARACTERS = 64 * 1024;

/**
 * Reads a connection as UTF-8. The iterator of Node's streams does the same with a handful of promises and listeners a
 * piece, and a model's stream has hundreds of them.
 */
function readPieces(connection: Readable): Pieces {
  let text = '';
  let waiting: PromiseWithResolvers<string | undefined> | undefined;
  let ended: { error?: Error } | undefined;
  const take = (): string | undefined => {
    if (text === '') return undefined;
    const piece = text;
    text = '';
    if (connection.isPaused()) connection.resume();
    return piece;
  };
  const settle = () => {
    if (!waiting) return;
    const piece = take();
    if (piece === undefined && !ended) return;
    const { resolve, reject } = waiting;
    waiting = undefined;
    if (piece === undefined && ended?.error) reject(ended.error);
    else resolve(piece);
  };
  const end = (error?: Error) => {
    ended ??= error ? { error } : {};
    settle();
  };
  const broken = () => new Error('the connection was closed before its end');
  connection.setEncoding('utf8');
  connection.on('data', (piece: string) => {
    text += piece;
    if (text.length > WAITING_MAX_CHARACTERS) connection.pause();
    settle();
  });
  connection.on('end', () => end());
  connection.on('error', (error: Error) => end(error));
  connection.on('close', () => {
    if (!ended) end(broken());
  });
  if (connection.destroyed) end(connection.errored ?? broken());
  return {
    take,
    next: () => {
      const { promise } = (waiting = Promise.withResolvers());
      settle();
      return promise;
    },
  };
}

/** Lazily, so that what stands before an error is passed on. */
function* toChunks(call: ModelCall, complete: readonly string[]): Generator<ModelChunk> {
  for (const data of complete) {
    const event: unknown = JSON.parse(data);
    const failure = errorOfEvent(call, event);
    if (failure) throw failure;
    yield toModelResponse(call, event);
  }
}

/** The error that a server tells in the place of events, or that the last of them is not whole. */
function brokenOff(call: ModelCall, rest: string): Error {
  try {
    const failure = errorOfEvent(call, JSON.parse(rest));
    if (failure) return failure;
  } catch {
    // No error of Google's.
  }
  return overloadedError(call, 'the answer broke off within an event');
}

/** The chunks of each piece of text that completes an event. */
function chunksOf(call: ModelCall, pieces: Pieces): AsyncIterator<Iterable<ModelChunk>> {
  const events = createEventData();
  const next = async (): Promise<IteratorResult<Iterable<ModelChunk>>> => {
    for (;;) {
      const piece = pieces.take() ?? (await pieces.next());
      if (piece === undefined) break;
      const complete = events.feed(piece);
      if (complete.length > 0) return { done: false, value: toChunks(call, complete) };
    }
    const rest = events.rest();
    if (rest !== '') throw brokenOff(call, rest);
    return { done: true, value: undefined };
  };
  return { next };
}

/** What the SDK needs to send one call, and who made it. */
type StreamCall = Platform & { call: ModelCall; request: ModelRequest; signal: AbortSignal };

/**
 * Opens a stream: resolves to what reads the events of one read together, and throws what broke it. The SDK makes the
 * request; of a stream it would make a response, a copy and five promises for every event
 * (docs/decisions/chat/0008-hono-routes.md).
 */
export async function openStream(
  { models }: GoogleGenAI,
  { call, request, ...platform }: StreamCall,
): Promise<AsyncIterator<Iterable<ModelChunk>>> {
  const { fetch, body } = keepAnswer();
  const parameters = toGenerateParameters(request, platform);
  Object.assign(parameters.config?.httpOptions ?? {}, { fetch });
  await models.generateContentStream(parameters);
  return chunksOf(call, readPieces(body()));
}
