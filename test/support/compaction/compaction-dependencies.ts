import { randomUUID } from 'node:crypto';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { createAccounting } from '#functions/quota/accounting.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { sha256 } from '../sha256.ts';
import { localSigner } from '../signing.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import {
  createScriptedModel,
  snapshotAnswer,
  type ScriptedModel,
} from '#test/fakes/scripted-model.ts';

interface LoggedLine {
  severity: string;
  event: string;
  fields: LogFields;
}

export interface CompactionBench extends CompactionDependencies {
  clock: ManualClock;
  model: ScriptedModel;
  published: { topic: string; data: object }[];
  logged: LoggedLine[];
}

/** The worker on the embedded store, a clock that stands still and a scripted model; all replaceable. */
export function compactionBench(overrides: Partial<CompactionBench> = {}): CompactionBench {
  const published: CompactionBench['published'] = [];
  const logged: LoggedLine[] = [];
  const {
    store = createMemoryDocumentStore(),
    clock = createManualClock(),
    randomness = { uuid: () => randomUUID() },
  } = overrides;
  return {
    config: localConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
    }),
    store,
    accounting: createAccounting({ store, clock, randomness }),
    cache: createMemoryCache({ maxBytes: 10_000_000 }),
    publisher: {
      publish: ({ topic, data }) => {
        published.push({ topic, data });
        return Promise.resolve();
      },
    },
    model: createScriptedModel({ answers: [snapshotAnswer()] }),
    pushTokens: { verify: () => Promise.resolve() },
    clock,
    randomness,
    signer: localSigner,
    sha256,
    logger: {
      log: (severity, event, fields) => {
        logged.push({ severity, event, fields });
      },
    },
    atCrashPoint: () => Promise.resolve(),
    shutdown: new AbortController().signal,
    published,
    logged,
    ...overrides,
  };
}

/** The same with Gemini CLI's two passes as its way to write snapshots. */
export const geminiCliBench = (overrides: Partial<CompactionBench> = {}): CompactionBench =>
  compactionBench({
    config: localConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
      SUMMARY_STRATEGY: 'gemini-cli',
    }),
    ...overrides,
  });

/** `bench`, whose worker waits for `act` each time it passes `point`. */
export const actingAt = (
  bench: CompactionBench,
  point: string,
  act: () => Promise<unknown>,
): CompactionBench => ({
  ...bench,
  atCrashPoint: async (passed) => {
    if (passed === point) await act();
  },
});
