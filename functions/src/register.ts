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

/** The handler with its calls counted: each stands in `running` until it has ended. */
const counted =
  (handle: Handler, running: Set<Promise<unknown>>): Handler =>
  async (request, response) => {
    const call = Promise.resolve(handle(request, response));
    running.add(call);
    try {
      await call;
    } finally {
      running.delete(call);
    }
  };

export interface RegisteredFunctions {
  /** Waits for the requests and turns of this process; gives up turns that take too long. */
  drain(): Promise<void>;
}

export interface FunctionDependencies {
  chat: () => Promise<ChatDependencies>;
  compaction: () => Promise<CompactionDependencies>;
}

/**
 * Registers `chat` and `compaction` with the framework. Both are HTTP functions: the worker parses the
 * Pub/Sub push body itself, because the framework's conversion to a CloudEvent drops fields.
 */
export function registerFunctions(dependencies: FunctionDependencies): RegisteredFunctions {
  const requests = new Set<Promise<unknown>>();
  let chat: ChatDependencies | undefined;
  const chatHandler = lazily(async () => {
    const { createChatHandler } = await import('./chat/handler.ts');
    chat = await dependencies.chat();
    return createChatHandler(chat);
  });
  http('chat', counted(chatHandler, requests));
  const pushes = new Set<Promise<unknown>>();
  const compactionHandler = lazily(async () => {
    const { createCompactionHandler } = await import('./compaction/handle-push.ts');
    return createCompactionHandler(await dependencies.compaction());
  });
  http('compaction', counted(compactionHandler, pushes));
  return {
    drain: async () => {
      // Stopped by the signal `shutdown`, each push only gives its lease back.
      const given = Promise.allSettled(pushes);
      if (chat) {
        const { drainChat } = await import('./chat/drain.ts');
        await drainChat(chat, requests);
      }
      await given;
    },
  };
}
