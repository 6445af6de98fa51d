import { parseConfig } from '#functions/config.ts';
import { createDependencies, type Overrides } from '#functions/dependencies.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import type { Vices } from '#infra/fake-gemini/server/faults.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { countedIds, recordedModel, type AnswerFolder } from '../answer-folder.ts';

/** What may summarise: the values of the setting `SUMMARY_STRATEGY`. */
type Strategy = 'ledger' | 'gemini-cli';

/** Whose conversations they are while the fake Gemini or a file answers for it. */
const spokenForModel = 'gemini-2.5-flash';

export interface EvalBench {
  /** The worker with the real model adapter, over a store in memory. */
  dependencies: WorkerDependencies;
  /** Model of the conversations. */
  model: string;
  strategy: Strategy;
  /** Where they are recorded. */
  answers?: AnswerFolder;
  stop(): Promise<void>;
}

export interface BenchSettings {
  strategy: Strategy;
  /** Recorded answers; where there are none, `model` answers. */
  answers?: AnswerFolder;
  /** `fake-gemini` or a Gemini model. */
  model: string;
  /** Misbehaviour of the fake Gemini. */
  vices?: Vices;
}

/** Later than any recording. */
const standingTime = new Date('2030-01-01T00:00:00.000Z');

interface Answering {
  /** Of the conversations. */
  model: string;
  variables: Record<string, string>;
  /** What else the worker has of the bench. */
  surroundings?: Overrides;
  stop?: () => Promise<void>;
}

/** Throws an Error when a Gemini model is asked for and there is no key. */
async function openModel({ answers, model, vices }: BenchSettings): Promise<Answering> {
  const randomness = countedIds();
  const spokenFor = { model: spokenForModel, variables: { GEMINI_API_KEY: 'none' } };
  // Ids and clock are fixed, so that the worker asks the same in every run.
  if (answers !== undefined)
    return { ...spokenFor, surroundings: { randomness, clock: createManualClock(standingTime) } };
  if (model === 'fake-gemini') {
    const fakeGemini = await startFakeGemini();
    fakeGemini.setVices(vices ?? {});
    return {
      model: spokenForModel,
      variables: { GEMINI_API_KEY: 'none', GEMINI_BASE_URL: fakeGemini.url },
      surroundings: { randomness },
      stop: () => fakeGemini.close(),
    };
  }
  const apiKey = process.env.GEMINI_API_KEY ?? '';
  if (apiKey === '') throw new Error(`--model ${model} needs GEMINI_API_KEY`);
  return { model, variables: { GEMINI_API_KEY: apiKey } };
}

/**
 * Starts the worker before the fake Gemini, before answers from files, or before the Gemini API. Throws an Error when a
 * Gemini model is asked for and there is no key.
 */
export async function startEvalBench(settings: BenchSettings): Promise<EvalBench> {
  const { strategy, answers } = settings;
  const { model, variables, surroundings, stop } = await openModel(settings);
  const config = parseConfig({
    GOOGLE_CLOUD_PROJECT: localProjectId,
    // Nobody listens there: with a demo- project the variable alone allows what has no token.
    PUBSUB_EMULATOR_HOST: '127.0.0.1:8085',
    ...variables,
    COMPRESSOR_MODEL: model,
    SUMMARY_STRATEGY: strategy,
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
  const dependencies = await compaction();
  return {
    dependencies: answers ? { ...dependencies, model: recordedModel(answers) } : dependencies,
    model,
    strategy,
    ...(answers && { answers }),
    stop: async () => stop?.(),
  };
}
