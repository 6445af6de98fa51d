import { randomUUID } from 'node:crypto';
import type { Place } from '../columns.ts';

/** What an event of the product's own stream holds, as far as trials look at it. */
export interface Chunk {
  type: string;
  delta?: string;
  toolCallId?: string;
  errorText?: string;
  finishReason?: string;
  data?: { kind?: string };
}

/** A message as the product's own API takes it. */
export const saying = (text: string, more: readonly object[] = []) => ({
  id: randomUUID(),
  parts: [{ type: 'text', text }, ...more],
});

/** An answer while it comes. */
export interface Following {
  chunks: Chunk[];
  text: () => string;
  /** Rejects with what the library says. */
  done: Promise<void>;
  close: () => void;
}

/** Adds an event; throws the error that it holds. True at the end of the stream. */
export function take(chunks: Chunk[], data: string): boolean {
  if (data === '[DONE]') return true;
  const chunk: Chunk = JSON.parse(data);
  chunks.push(chunk);
  if (chunk.type === 'error') throw new Error(chunk.errorText);
  return false;
}

export const textOfChunks = (chunks: readonly Chunk[]): string =>
  chunks.map(({ delta = '' }) => delta).join('');

/** A call of the product's own API with `fetch`, beside the library. Throws Error with the body of a failure. */
export async function post(place: Place, path: string, body: object = {}): Promise<Response> {
  const response = await fetch(`${place.url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${place.token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return response;
}
