import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { Clock, ModelRequest } from '#shared/ports/ports.ts';
import { limitedChat } from '#test/support/chat/quotas.ts';
import { request } from '#test/support/chat/sending.ts';
import { countStore, type CountedStore } from './counted-store.ts';

/** What a call of the database takes, ms. */
const ROUND_TRIP_MS = 10;

/** Every limit is on, and none is reached; titles are made. */
export const FAR_LIMITS = {
  USER_DAILY_MESSAGES: '1000000',
  USER_DAILY_TOKENS: '1000000000',
  USER_REQUESTS_PER_MINUTE: '600',
  STREAMS_PER_USER: '100',
  USER_DAILY_USD: '10000',
  GLOBAL_DAILY_USD: '100000',
  TITLES: 'on',
};

/** What a call of the model took, whatever it was for: 400 millionths of a dollar at the prices of the tests. */
const reported = { promptTokens: 300, cachedTokens: 0, outputTokens: 100, thoughtsTokens: 0 };
export const CALL_USD = 400 / 1_000_000;

/** One database, and instances of chat that share nothing else. */
interface LimitedInstances {
  counted: CountedStore;
  /** An instance that knows nothing yet. */
  instance: () => ChatDependencies;
  /** What was asked of the model, in order. */
  requests: ModelRequest[];
}

export function createLimitedInstances(
  environment: Record<string, string>,
  options: { clock?: Clock; modelMs?: number; roundTripMs?: number } = {},
): LimitedInstances {
  const { clock, modelMs = 0, roundTripMs = ROUND_TRIP_MS } = options;
  const pause = roundTripMs > 0 ? { pause: () => delay(roundTripMs) } : {};
  const counted = countStore(createMemoryDocumentStore(pause));
  const requests: ModelRequest[] = [];
  const model: ChatDependencies['model'] = {
    async *stream(called) {
      requests.push(called);
      if (clock && modelMs > 0) await clock.wait(modelMs);
      yield { parts: [{ text: 'A trip to Busan in May.' }] };
      yield { parts: [], finishReason: 'STOP', usage: reported };
    },
  };
  return {
    counted,
    requests,
    instance: () =>
      limitedChat(environment, {
        store: counted.store,
        cache: createMemoryCache({ maxBytes: 10_000_000 }),
        model,
        ...(clock && { clock }),
      }),
  };
}

/** Sends one message, and waits for its answer and for all that comes of it. Throws what sending throws. */
export async function sendOne(
  chat: ChatDependencies,
  { uid = 'u1', conversationId = randomUUID() }: { uid?: string; conversationId?: string } = {},
): Promise<void> {
  const asked = request(conversationId, 'Where is it quiet in the morning?');
  const handle = await sendMessage(chat, { ...asked, caller: { uid, tier: 'signedIn' } });
  await handle.result;
  await Promise.all(chat.afterwork);
}
