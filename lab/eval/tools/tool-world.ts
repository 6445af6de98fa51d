import { createHash, randomUUID } from 'node:crypto';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { builtInTools } from '#functions/chat/turns/tools/built-in-tools.ts';
import type { ServerTool } from '#functions/chat/turns/tools/server-tool.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';

const CACHE_BYTES = 50_000_000;

/** Chat in this process and the worker behind a bus, on one store in memory, before one model server. */
export interface ToolEvalWorld {
  chat: ChatDependencies;
  /** Events that were logged as errors. */
  errors: string[];
  /** Waits until all is done that turns have left to do: events are delivered, compactions have ended. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts both functions with `tools` beside those that Recap brings along. The model signs its calls and
 * refuses a prompt that lacks a signature.
 */
export async function openToolWorld(options: {
  fakeGeminiUrl: string;
  tools: readonly ServerTool[];
}): Promise<ToolEvalWorld> {
  const environment = stackEnvironment({
    shell: {},
    model: { kind: 'stand-in' },
    fakeGeminiUrl: options.fakeGeminiUrl,
    settings: { MODEL: 'gemini-3.8-flash', TELL_TIME: 'with-context' },
  });
  const config = localConfig(environment);
  const errors: string[] = [];
  const store = createMemoryDocumentStore();
  const cache = createMemoryCache({ maxBytes: CACHE_BYTES });
  const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
  const logger = {
    log: (severity: string, event: string, fields: object) => {
      if (severity === 'ERROR') errors.push(`${event} ${JSON.stringify(fields)}`);
    },
  };
  const own = { config, store, cache, clock: systemClock, sha256, logger };
  const builtIn = builtInTools(own);
  const shared = {
    store,
    quota: noQuota,
    randomness: { uuid: () => randomUUID() },
    toolbox: createToolbox([...builtIn, ...options.tools]),
    logger,
  };
  const host = await startEmbeddedHost({
    environment,
    overrides: shared,
    push: { minBackoffSeconds: 0.05, maxBackoffSeconds: 1 },
  });
  const chat = await createDependencies(config, { ...shared, cache, publisher: host.bus }).chat();
  return {
    chat,
    errors,
    settle: async () => {
      await Promise.all(chat.afterwork);
      await host.bus.idle();
    },
    stop: () => host.stop(),
  };
}
