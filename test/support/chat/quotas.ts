import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { decodeUsage, type Usage } from '#shared/quota/usage.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { startChatServer, type ChatServer } from './chat-server.ts';
import { request } from './sending.ts';

/** A dollar a million tokens, whatever they are. */
export const HOUSE_PRICES = {
  MODEL: 'house-model',
  MODEL_PRICES: JSON.stringify({ 'house-model': { input: 1, cached: 1, output: 1 } }),
};

/** An instance of chat with the quotas that `environment` sets; no others are on. */
export function limitedChat(
  environment: Record<string, string>,
  overrides: Partial<ChatDependencies> = {},
) {
  const dependencies = chatDependencies(overrides, { ...HOUSE_PRICES, ...environment });
  return { ...dependencies, quota: createQuota(dependencies) };
}

/** What stands in a user's document of a day. */
export async function usageOf(
  store: Pick<DocumentStore, 'get'>,
  { uid = 'u1', day = '2026-01-02' } = {},
): Promise<Usage> {
  const [document] = await store.get([usagePath(uid, day)]);
  return decodeUsage(document);
}

/** Sends a message and waits for the answer; resolves to the reason where it is refused. */
export async function answerOrReason(
  dependencies: ChatDependencies,
  conversationId: string,
  partial: Partial<Pick<SendRequest, 'caller'>> = {},
): Promise<string> {
  try {
    const handle = await sendMessage(dependencies, {
      ...request(conversationId, 'Hello'),
      ...partial,
    });
    return (await handle.result).turn.state;
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

/** Every limit that is on where nothing is set. */
const NO_LIMITS = {
  USER_DAILY_MESSAGES: '0',
  USER_DAILY_TOKENS: '0',
  USER_REQUESTS_PER_MINUTE: '0',
  ANONYMOUS_DAILY_MESSAGES: '0',
  ANONYMOUS_DAILY_TOKENS: '0',
  ANONYMOUS_REQUESTS_PER_MINUTE: '0',
  USER_DAILY_CREATIONS: '0',
  ANONYMOUS_DAILY_CREATIONS: '0',
  STREAMS_PER_USER: '0',
  USER_CALLS_AT_ONCE: '0',
  USER_CALLS_PER_MINUTE: '0',
  USER_DAILY_USD: '0',
  GLOBAL_DAILY_USD: '0',
};

/** The function with the quotas that `environment` sets, and no others. */
export function startLimitedServer(
  environment: Record<string, string>,
  overrides: Partial<ChatDependencies> = {},
): Promise<ChatServer> {
  const settings = { ...HOUSE_PRICES, ...NO_LIMITS, ...environment };
  const { store, quota } = limitedChat(settings, overrides);
  return startChatServer({ overrides: { ...overrides, store, quota }, environment: settings });
}

const spent = (reason: string, retryAfterMs: number, publicMessage = 'Too many messages.') =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason,
    message: 'quota of a test',
    publicMessage,
    retryable: true,
    retryAfterMs,
  });

/** What a user is told whose messages of the day are spent. */
const noMessagesLeft = (retryAfterMs: number) =>
  spent('USER_DAILY_MESSAGES', retryAfterMs, 'No messages are left for today.');

/** A quota that refuses the messages of the conversations it was told, and no others. */
export function createSpentQuota() {
  const waits = new Map<string, number>();
  const quota: typeof noQuota = {
    ...noQuota,
    reserve: (asked) => {
      const waitMs = waits.get(asked.conversationId);
      return waitMs === undefined ? noQuota.reserve(asked) : Promise.reject(noMessagesLeft(waitMs));
    },
  };
  return {
    quota,
    /** From now on; the refusal says that the quota is back after `waitMs`. */
    spend: (conversationId: string, waitMs: number) => void waits.set(conversationId, waitMs),
  };
}

/** The tokens of today are used up: the next come in six hours. */
export const daySpent = () => spent('USER_DAILY_TOKENS', 6 * 3_600_000);
