import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { type ServerTool, createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { contentText, hasFunctionResponse } from '#shared/models/content.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { daySpent } from '#test/support/chat/quotas.ts';
import { overloaded } from '#test/support/model-down.ts';
import { installPackages } from '#test/support/processes/install-packages.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import type { Place } from './talk.ts';
import type { Places } from './trials.ts';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { z } from 'zod';

declare module 'vitest' {
  interface ProvidedContext {
    clients: {
      /** `/places`: those of new users; `/libraries`: where they are, as soon as npm is done with them. */
      url: string;
    };
  }
}

const libraries = new URL('libraries/package.json', import.meta.url);

const COUNTING = /Count to (?<highest>\d+)\.\s*$/u;
const NUMBER_MS = 50;

/** Answers `Count to N.` with the numbers, one each 50 ms, and hands every other request on. */
const countingModel = (model: ModelStreamer): ModelStreamer => ({
  stream: async function* (request, signal) {
    const last = request.contents.findLast(({ role }) => role === 'user');
    const isAsked = last !== undefined && !hasFunctionResponse(last);
    const highest = isAsked ? COUNTING.exec(contentText(last))?.groups?.['highest'] : undefined;
    if (highest === undefined) {
      yield* model.stream(request, signal);
      return;
    }
    for (let number = 1; number <= Number(highest); number += 1) {
      signal.throwIfAborted();
      yield { parts: [{ text: `${number} ` }] };
      await delay(NUMBER_MS);
    }
    const usage = { promptTokens: 10, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
    yield { parts: [], finishReason: 'STOP', usage };
  },
});

const amount = z.object({ amount: z.number() });

const pay: ServerTool<typeof amount> = {
  name: 'pay',
  description: 'Pays an amount.',
  parameters: amount,
  timeoutMs: 5_000,
  needsApproval: () => true,
  run: (paid) => Promise.resolve({ paid: paid.amount }),
};

const MODEL_LIMITS = {
  firstEventTimeoutMs: 60_000,
  eventIdleTimeoutMs: 60_000,
  requestTimeoutMs: 120_000,
};

async function placeAt({ keys, project, url }: ChatServer): Promise<Place> {
  return { url, project, token: await keys.sign(idTokenClaims(project, randomUUID())) };
}

/** The chat function three times over a store in memory, with the fake Gemini as its model. */
async function startFunctions() {
  const gemini = await startFakeGemini();
  const environment = { CLIENT_WRITABLE: 'tools,systemInstruction' };
  const common = {
    model: countingModel(createGeminiModel({ baseUrl: gemini.url, ...MODEL_LIMITS })),
    toolbox: createToolbox([pay]),
    files: createMemoryBucket(),
  };
  const quota = { ...noQuota, reserve: () => Promise.reject(daySpent()) };
  const model: ModelStreamer = {
    stream: async function* () {
      yield await Promise.reject(overloaded());
    },
  };
  const [open, spent, failing] = await Promise.all([
    startChatServer({ overrides: common, environment }),
    startChatServer({ overrides: { ...common, quota }, environment }),
    startChatServer({ overrides: { ...common, model }, environment }),
  ]);
  const newPlaces = async (): Promise<Places> => ({
    open: await placeAt(open),
    spent: await placeAt(spent),
    failing: await placeAt(failing),
  });
  const stop = async () => {
    await Promise.all([open.stop(), spent.stop(), failing.stop()]);
    await gemini.close();
  };
  return { newPlaces, stop };
}

/** For all test files of this folder: starts the functions, and installs the libraries while other tests run. */
// oxlint-disable-next-line import/no-default-export -- what vitest loads
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const functions = await startFunctions();
  const installing = installPackages(libraries, 'client libraries').catch((error: unknown) => ({
    error: String(error),
  }));
  const server = createServer(({ url: path }, response) => {
    // One that is kept open may be closed in the moment of the next request.
    response.setHeader('connection', 'close');
    const found = path === '/places' ? functions.newPlaces() : installing;
    void found.then((value) => response.end(JSON.stringify(value)));
  });
  const { url, close } = await openServer(server);
  provide('clients', { url });
  return async () => {
    await installing;
    await close();
    await functions.stop();
  };
}
