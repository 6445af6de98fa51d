import type { GoogleGenAI } from '@google/genai';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { createEventData } from '../google/event-data.ts';
import { errorOfEvent, type ModelCall, overloadedError } from './gemini-errors.ts';
import { toGenerateParameters, type Platform } from './gemini-request.ts';
import { toModelResponse } from './gemini-response.ts';
import { keepAnswer } from './gemini-transport.ts';
import { type Pieces, readPieces } from './text-pieces.ts';

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
 * (docs/decisions/chat/0029-streams-are-read-here.md).
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
