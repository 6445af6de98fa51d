import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Stops a use case at the first thing that it would write. */
class RehearsedError extends Error {}

/**
 * Runs a use case of the chat function with a store that takes no write, up to its first batch: so what it would refuse
 * is refused. Nothing is published. Resolves to whether it would write. Throws what the use case throws.
 */
export async function rehearse(
  chat: ChatDependencies,
  run: (chat: ChatDependencies) => Promise<unknown>,
): Promise<boolean> {
  try {
    await run({
      ...chat,
      store: { ...chat.store, commit: () => Promise.reject(new RehearsedError()) },
      publisher: { publish: () => Promise.resolve() },
    });
    return false;
  } catch (error) {
    if (error instanceof RehearsedError) return true;
    throw error;
  }
}
