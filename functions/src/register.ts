import { http } from '@google-cloud/functions-framework';
import type { ChatDependencies } from './chat/chat-dependencies.ts';
import type { CompactionDependencies } from './compaction/compaction-dependencies.ts';

type Handler = Parameters<typeof http>[1];

/**
 * Loads on the first request and keeps what it loaded: each function pays only for its own half. A load
 * that fails is tried again by the next request.
 */
const lazily = (load: () => Promise<Handler>): Handler => {
  let loaded: Promise<Handler> | undefined;
  return async (request, response) => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    const handle = await loaded;
    await handle(request, response);
  };
};

export interface FunctionDependencies {
  chat: () => Promise<ChatDependencies>;
  compaction: () => Promise<CompactionDependencies>;
}

/**
 * Registers `chat` and `compaction` with the framework. Both are HTTP functions: the worker parses the
 * Pub/Sub push body itself, because the framework's conversion to a CloudEvent drops fields.
 */
export function registerFunctions(dependencies: FunctionDependencies): void {
  http(
    'chat',
    lazily(async () => {
      const { createChatHandler } = await import('./chat/handler.ts');
      return createChatHandler(await dependencies.chat());
    }),
  );
  http(
    'compaction',
    lazily(async () => {
      const { createCompactionHandler } = await import('./compaction/handle-push.ts');
      return createCompactionHandler(await dependencies.compaction());
    }),
  );
}
