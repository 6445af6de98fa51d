import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from './answer-stream.ts';
import type { ChatClient, OutgoingMessage } from './chat-client.ts';
import { ChatRequestError } from './chat-request-error.ts';

const giveUpAfterMs = 120_000;
const firstDelayMs = 250;
const longestDelayMs = 5_000;

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
      const isLate = performance.now() - startedAt > giveUpAfterMs;
      if (!(error instanceof ChatRequestError) || !error.isRetryable || isLate) throw error;
      const backOffMs = Math.min(longestDelayMs, firstDelayMs * 2 ** retries);
      await delay(error.retryAfterMs ?? backOffMs);
    }
  }
}
