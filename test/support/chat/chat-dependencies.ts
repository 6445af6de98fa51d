import { randomUUID } from 'node:crypto';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { createModelHealth } from '#functions/models/model-health.ts';
import { createAccounting } from '#functions/quota/accounting.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { sha256, localSigner } from '#test/support/signing.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';

interface PublishedEvent {
  topic: string;
  data: object;
}

/** Chat on the embedded store with a scripted model; everything can be replaced. */
export function chatDependencies(
  overrides: Partial<ChatDependencies> = {},
  environment: Record<string, string> = {},
): ChatDependencies & { published: PublishedEvent[]; told: PublishedEvent[] } {
  const published: PublishedEvent[] = [];
  const told: PublishedEvent[] = [];
  const {
    store = createMemoryDocumentStore(),
    clock = systemClock,
    randomness = { uuid: () => randomUUID() },
  } = overrides;
  return {
    config: localConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      FIREBASE_AUTH_EMULATOR_HOST: '127.0.0.1:9099',
      // Scripted answers that are to be long say the same over and over.
      LOOP_DETECTION: 'off',
      // Prompts are compared with what was sent.
      TELL_TIME: 'with-context',
      ...environment,
    }),
    store,
    accounting: createAccounting({ store, clock, randomness }),
    cache: createMemoryCache({ maxBytes: 10_000_000 }),
    liveTurns: new Map(),
    afterwork: new Set(),
    modelHealth: createModelHealth(systemClock),
    publisher: {
      publish: (event) => {
        // What workers are to do, and what is told to whoever listens.
        (event.topic === 'compaction' ? published : told).push(event);
        return Promise.resolve();
      },
    },
    model: scriptedStreamer(textAnswer('Fine.')).model,
    idTokens: {
      verify: () => Promise.resolve({ uid: 'u1', tier: 'signedIn', signedInAt: new Date(0) }),
    },
    appCheck: {
      verify: () => Promise.reject(new Error('App Check is off unless a test enforces it')),
    },
    revocations: { check: () => Promise.resolve() },
    toolbox: createToolbox([]),
    quota: noQuota,
    clock,
    randomness,
    signer: localSigner,
    sha256,
    logger: { log: () => undefined },
    atCrashPoint: () => Promise.resolve(),
    shutdown: new AbortController().signal,
    published,
    told,
    ...overrides,
  };
}
