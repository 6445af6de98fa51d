import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import type { ServerTool } from '#functions/chat/turns/tools/server-tool.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { AppError } from '#shared/errors.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { overloaded } from '#test/support/model-down.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import type { Place, Places } from './columns.ts';
import { countingModel } from './model.ts';

/** The three functions that the clients are run against. */
export interface World {
  /** Each with a new user. */
  places: () => Promise<Places>;
  close: () => Promise<void>;
}

const amount = z.object({ amount: z.number() });

const pay: ServerTool<typeof amount> = {
  name: 'pay',
  description: 'Pays an amount.',
  parameters: amount,
  timeoutMs: 5_000,
  needsApproval: () => true,
  run: (paid) => Promise.resolve({ paid: paid.amount }),
};

const environment = { CLIENT_WRITABLE: 'tools,systemInstruction' };

const MODEL_LIMITS = {
  firstEventTimeoutMs: 5_000,
  eventIdleTimeoutMs: 5_000,
  requestTimeoutMs: 30_000,
};

const A_DAY_MS = 86_400_000;

const spentQuota: typeof noQuota = {
  ...noQuota,
  reserve: () =>
    Promise.reject(
      new AppError({
        status: 'RESOURCE_EXHAUSTED',
        reason: 'USER_DAILY_MESSAGES',
        message: 'the quota of a trial',
        publicMessage: 'You have used all your messages for today.',
        retryable: true,
        retryAfterMs: A_DAY_MS / 2,
      }),
    ),
};

async function placeAt(server: ChatServer): Promise<Place> {
  const token = await server.keys.sign(idTokenClaims(server.project, randomUUID()));
  return { url: server.url, project: server.project, token };
}

/** Starts the chat function three times over a store in memory, with the fake Gemini as its model. */
export async function startWorld(): Promise<World> {
  const gemini = await startFakeGemini();
  const model = countingModel(createGeminiModel({ baseUrl: gemini.url, ...MODEL_LIMITS }));
  const toolbox = createToolbox([pay]);
  const files = createMemoryBucket();
  const failing = {
    stream: async function* () {
      yield await Promise.reject(overloaded());
    },
  };
  const [open, spent, down] = await Promise.all([
    startChatServer({ overrides: { model, toolbox, files }, environment }),
    startChatServer({ overrides: { model, toolbox, files, quota: spentQuota }, environment }),
    startChatServer({ overrides: { model: failing, toolbox, files }, environment }),
  ]);
  return {
    places: async () => ({
      open: await placeAt(open),
      spent: await placeAt(spent),
      failing: await placeAt(down),
    }),
    close: async () => {
      await Promise.all([open, spent, down].map((server) => server.stop()));
      await gemini.close();
    },
  };
}
