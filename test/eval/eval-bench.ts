import type { CompactionDependencies } from '../../functions/src/compaction/compaction-dependencies.ts';
import { parseConfig } from '../../functions/src/config.ts';
import { createDependencies } from '../../functions/src/dependencies.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { localProjectId } from '../../infra/local/stack-environment.ts';
import { type StandIn, startStandIn } from '../../infra/local/stand-in/start-stand-in.ts';
import type { EvalArguments } from './eval-arguments.ts';

/** Whose conversations they are while the stand-in speaks for it. */
const standInModel = 'gemini-2.5-flash';

export interface EvalBench {
  /** The worker with the real model adapter, over a store in memory. */
  dependencies: CompactionDependencies;
  /** Model of the conversations. */
  model: string;
  /** Absent with a Gemini model. */
  standIn?: StandIn;
  stop(): Promise<void>;
}

export type BenchSettings = Pick<EvalArguments, 'model' | 'vices' | 'seed' | 'strategy'>;

async function workerOf(
  wanted: BenchSettings,
  server: { model: string; apiKey: string; baseUrl: string | undefined },
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

/**
 * Starts the stand-in, or takes the Gemini API, for the same worker. Throws an Error when a Gemini model
 * is asked for and there is no key.
 */
export async function startEvalBench(
  wanted: BenchSettings,
  environment: { GEMINI_API_KEY?: string | undefined },
): Promise<EvalBench> {
  const apiKey = environment.GEMINI_API_KEY ?? '';
  if (wanted.model !== 'stand-in') {
    if (apiKey === '') throw new Error(`--model ${wanted.model} needs GEMINI_API_KEY`);
    const server = { model: wanted.model, apiKey, baseUrl: undefined };
    const dependencies = await workerOf(wanted, server);
    return { dependencies, model: wanted.model, stop: () => Promise.resolve() };
  }
  const standIn: StandIn = await startStandIn({ seed: wanted.seed, vices: wanted.vices });
  const server = { model: standInModel, apiKey: 'stand-in', baseUrl: standIn.url };
  const dependencies = await workerOf(wanted, server);
  return { dependencies, model: standInModel, standIn, stop: () => standIn.close() };
}
