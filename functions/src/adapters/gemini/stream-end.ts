import type { ModelChunk } from '#shared/ports/ports.ts';
import { isFinal } from './gemini-response.ts';

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
