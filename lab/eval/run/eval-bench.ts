import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { parseConfig } from '#functions/config.ts';
import { createDependencies, type Overrides } from '#functions/dependencies.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import type { Vices } from '#infra/fake-gemini/server/misbehaviour.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import type { AnswerFolder } from '../answers/answer-folder.ts';
import { startAnswerServer } from '../answers/answer-server.ts';
import { countedIds } from '../answers/counted-ids.ts';
import type { Strategy } from '../strategies.ts';

/** Whose conversations they are while the fake Gemini or a file answers for it. */
const spokenForModel = 'gemini-2.5-flash';

export interface EvalBench {
  /** The worker with the real model adapter, over a store in memory. */
  dependencies: CompactionDependencies;
  /** Model of the conversations. */
  model: string;
  strategy: Strategy;
  /** With the model `files` alone. */
  answers?: AnswerFolder;
  stop(): Promise<void>;
}

export interface BenchSettings {
  /** `stand-in`, `files` or a Gemini model. */
  model: string;
  strategy: Strategy;
  /** Misbehaviour of the stand-in. */
  vices?: Vices;
  /** What requests to the stand-in meet. */
  faults?: readonly Fault[];
  /** Of the model `files`. */
  answerFolder?: AnswerFolder | undefined;
}

/** Later than any recording. */
const standingTime = new Date('2030-01-01T00:00:00.000Z');

async function workerOf(
  wanted: BenchSettings,
  server: { model: string; apiKey: string; baseUrl: string | undefined },
  surroundings: Overrides = {},
): Promise<CompactionDependencies> {
  const config = parseConfig({
    GOOGLE_CLOUD_PROJECT: localProjectId,
    // Nobody listens there: with a demo- project the variable alone allows what has no token.
    PUBSUB_EMULATOR_HOST: '127.0.0.1:8085',
    GEMINI_API_KEY: server.apiKey,
    GEMINI_BASE_URL: server.baseUrl,
    COMPRESSOR_MODEL: server.model,
    SUMMARY_STRATEGY: wanted.strategy,
    // What a snapshot keeps is measured, in conversations that are smaller than a declaration weighs.
    BUILT_IN_TOOLS: 'none',
  });
  const { compaction } = createDependencies(config, {
    ...surroundings,
    store: createMemoryDocumentStore(),
    publisher: { publish: () => Promise.resolve() },
    pushTokens: { verify: () => Promise.resolve() },
    logger: {
      log: (severity, event, fields) => {
        if (severity === 'ERROR') process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
      },
    },
  });
  return compaction();
}

/** The worker before recorded answers; ids and clock are fixed, so that it asks the same in every run. */
async function benchOnFiles(wanted: BenchSettings, answers: AnswerFolder): Promise<EvalBench> {
  const server = await startAnswerServer(answers);
  const dependencies = await workerOf(
    wanted,
    { model: spokenForModel, apiKey: 'files', baseUrl: server.url },
    {
      randomness: countedIds(),
      clock: createManualClock(standingTime),
    },
  );
  const { strategy } = wanted;
  return { dependencies, model: spokenForModel, strategy, answers, stop: () => server.close() };
}

/**
 * Starts the fake Gemini or a server that answers from files, or takes the Gemini API, for the same worker.
 * Throws an Error when a Gemini model is asked for and there is no key.
 */
export async function startEvalBench(
  wanted: BenchSettings,
  environment: { GEMINI_API_KEY?: string | undefined },
): Promise<EvalBench> {
  const { strategy, answerFolder } = wanted;
  if (answerFolder !== undefined) return benchOnFiles(wanted, answerFolder);
  const apiKey = environment.GEMINI_API_KEY ?? '';
  if (wanted.model !== 'stand-in') {
    if (apiKey === '') throw new Error(`--model ${wanted.model} needs GEMINI_API_KEY`);
    const server = { model: wanted.model, apiKey, baseUrl: undefined };
    const dependencies = await workerOf(wanted, server);
    return { dependencies, model: wanted.model, strategy, stop: () => Promise.resolve() };
  }
  const fakeGemini = await startFakeGemini();
  fakeGemini.setVices(wanted.vices ?? {});
  fakeGemini.queueFaults(...(wanted.faults ?? []));
  const server = { model: spokenForModel, apiKey: 'stand-in', baseUrl: fakeGemini.url };
  const dependencies = await workerOf(wanted, server, { randomness: countedIds() });
  return { dependencies, model: spokenForModel, strategy, stop: () => fakeGemini.close() };
}
