import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { drainChat, GIVE_UP_MS } from '../chat/drain.ts';
import { settlesWithin } from '../lib/deadline.ts';
import type { WorkerDependencies } from '../worker/worker-dependencies.ts';
import { http } from '@google-cloud/functions-framework';

type Handler = Parameters<typeof http>[1];

/**
 * Loads on the first request, or when it is told to, and keeps what it loaded: each function pays only for its own
 * half. A load that fails is tried again by the next request.
 */
function lazily(make: () => Promise<Handler>): { load: () => Promise<Handler>; handle: Handler } {
  let loaded: Promise<Handler> | undefined;
  const load = () =>
    (loaded ??= make().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
  return {
    load,
    handle: async (request, response) => {
      const handle = await load();
      await handle(request, response);
    },
  };
}

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

interface RegisteredFunctions {
  chat: Handler;
  compaction: Handler;
  /** Makes `chat` ready for its first request. Rejects where it cannot be; the request tries again. */
  loadChat: () => Promise<unknown>;
  /**
   * Waits for the requests, turns and pushes of this process, and gives up turns that take longer than
   * `drainMs`. Resolves within `drainMs` and 1.5 s in any case.
   */
  drain(): Promise<void>;
}

export interface FunctionDependencies {
  clock: Clock;
  /** How long running answers may go on when the process is told to end, ms. */
  drainMs: number;
  chat: () => Promise<ChatDependencies>;
  compaction: () => Promise<WorkerDependencies>;
}

/**
 * Registers `chat` and `compaction` with the framework. Both are HTTP functions: the worker parses the
 * Pub/Sub push body itself, because the framework's conversion to a CloudEvent drops fields.
 */
export function registerFunctions(dependencies: FunctionDependencies): RegisteredFunctions {
  const requests = new Set<Promise<unknown>>();
  let chat: Promise<ChatDependencies> | undefined;
  const chatFunction = lazily(async () => {
    chat = dependencies.chat();
    const [{ createChatHandler }, loaded] = await Promise.all([import('../chat/handler.ts'), chat]);
    return createChatHandler(loaded);
  });
  const chatHandler = counted(chatFunction.handle, requests);
  http('chat', chatHandler);
  const pushes = new Set<Promise<unknown>>();
  const compactionFunction = lazily(async () => {
    const { createPushHandler } = await import('../worker/push/handle-push.ts');
    return createPushHandler(await dependencies.compaction());
  });
  const compactionHandler = counted(compactionFunction.handle, pushes);
  http('compaction', compactionHandler);
  const { clock, drainMs } = dependencies;
  const drainRequests = async () => {
    const endMs = clock.now().getTime() + drainMs;
    // The first request may be waiting for its function still.
    const loaded = await chat?.catch(() => undefined);
    if (loaded) await drainChat(loaded, requests, Math.max(0, endMs - clock.now().getTime()));
    else await Promise.allSettled(requests);
  };
  return {
    chat: chatHandler,
    compaction: compactionHandler,
    loadChat: chatFunction.load,
    drain: async () => {
      // Stopped by the signal `shutdown`, each push only gives its lease back.
      const ended = Promise.all([drainRequests(), Promise.allSettled(pushes)]);
      await settlesWithin(clock, drainMs + GIVE_UP_MS, ended);
    },
  };
}
