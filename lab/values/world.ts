import { z } from 'zod';
import { builtInTools } from '#functions/chat/turns/tools/built-in-tools.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { CLIENT_WRITABLE_FIELDS } from '#functions/config/environment.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { jsonText } from './hostile-json.ts';
import { hostileModel } from './hostile-model.ts';

/** The service on one store, where model, tools and hooks give what they are told. */
export interface HostileWorld {
  app: ReturnType<typeof createWireApp>;
  model: ReturnType<typeof hostileModel>;
  /** What the tool `fetch` and the hooks give next; undefined: something sane. */
  give: { next: () => unknown };
  /** ERROR lines of the log since they were last looked at, and all there were. */
  errors: string[];
  logged: string[];
  compact(conversationId: string): Promise<string>;
  /** What the worker does of a deletion for good. */
  erase(conversationId: string): Promise<string>;
}

const neverAborted = () => new AbortController().signal;

const settings = {
  CLIENT_WRITABLE: CLIENT_WRITABLE_FIELDS.join(','),
  // What a user takes is counted in documents, too; no conversation here shall come to an end by it.
  USER_DAILY_MESSAGES: '1000000',
  USER_DAILY_TOKENS: '10000000000',
  USER_DAILY_USD: '0',
  GLOBAL_DAILY_USD: '0',
  CONDENSE_TOOL_OUTPUTS: 'always',
};

/** A log that keeps its errors. */
function keepErrors() {
  const errors: string[] = [];
  const logged: string[] = [];
  const logger = {
    log: (severity: string, event: string, fields: object) => {
      if (severity !== 'ERROR') return;
      const line = `${event} ${JSON.stringify(fields).slice(0, 1_500)}`;
      errors.push(line);
      logged.push(line);
    },
  };
  return { errors, logged, logger };
}

/** Hooks that give what there is next, in each place of their answer. */
function hostileHooks(give: HostileWorld['give']) {
  const gives = async (answer: unknown) => Promise.resolve(JSON.parse(jsonText(answer)));
  // What a hook gives is its own affair: nothing holds the code of an operator to the type.
  const hooksOf = (...shapes: ((value: unknown) => unknown)[]) =>
    shapes.map((shape, index) => ({
      name: `hostile ${index}`,
      run: () => gives(shape(give.next())),
    }));
  return {
    beforeTurn: hooksOf(
      (value) => value,
      (value) => ({ addContext: value }),
    ),
    preCompact: hooksOf(
      (value) => value,
      (value) => ({ pins: value, veto: null }),
      (value) => ({ pins: [value, { id: 'a', text: value }, { id: value, text: 'b' }] }),
    ),
  };
}

export function hostileWorld(store: DocumentStore = createMemoryDocumentStore()): HostileWorld {
  const model = hostileModel();
  const give: HostileWorld['give'] = { next: () => undefined };
  const { errors, logged, logger } = keepErrors();
  const { beforeTurn, preCompact } = hostileHooks(give);
  const fetchTool = {
    name: 'fetch',
    description: 'Gives whatever there is.',
    parameters: z.looseObject({}),
    timeoutMs: 5_000,
    run: () => Promise.resolve(z.custom<Record<string, unknown>>().parse(give.next())),
  };
  const cache = createMemoryCache({ maxBytes: 10_000_000 });
  const base = chatDependencies({ store, cache, logger, model: model.model }, settings);
  const app = createWireApp(
    {
      store,
      cache,
      logger,
      model: model.model,
      toolbox: createToolbox([fetchTool, ...builtInTools(base)]),
      beforeTurnHooks: beforeTurn,
      quota: createQuota(base),
    },
    settings,
  );
  const worker: CompactionDependencies = {
    ...compactionBench({ store, cache, logger }),
    config: base.config,
    clock: systemClock,
    model: model.model,
    hooks: { preCompact, postCompact: [] },
  };
  return {
    app,
    model,
    give,
    errors,
    logged,
    compact: async (conversationId) => {
      const result = await runCompaction(worker, { conversationId, signal: neverAborted() });
      return `${result.kind} ${result.kind === 'done' ? (result.state ?? '') : ''} ${result.reason ?? ''}`;
    },
    erase: (conversationId) => eraseConversation(worker, conversationId, neverAborted()),
  };
}
