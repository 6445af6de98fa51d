import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { ChatApi } from '#web/api/chat-api.ts';
import { BACK_OFF_MS, pause } from './answers.ts';

/** Ends when somebody comes back to the page, or leaves it, or its network comes back. */
function untilInterrupted(): AbortController {
  const interrupted = new AbortController();
  const options = { once: true, signal: interrupted.signal };
  document.addEventListener('visibilitychange', () => interrupted.abort(), options);
  addEventListener('online', () => interrupted.abort(), options);
  return interrupted;
}

const forever = (ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => ended.addEventListener('abort', () => resolve(), { once: true }));

/**
 * Follows what changes in the caller's list while the page is seen, over as many connections as it takes: each goes on
 * behind the last event that was handled. Never ends.
 */
export async function followUser(parts: {
  api: Pick<ChatApi, 'events'>;
  /** An event whose handling rejects comes again. */
  handle: (event: UserEvent) => Promise<void>;
  /** A connection could not be made: it is tried again. */
  onProblem: (error: unknown) => void;
}): Promise<never> {
  let cursor: string | undefined;
  let tries = 0;
  for (;;) {
    const interrupted = untilInterrupted();
    const { signal } = interrupted;
    // A browser has few connections for all its windows.
    if (document.hidden) {
      await forever(signal);
      continue;
    }
    try {
      for await (const { id, event } of parts.api.events(cursor, signal)) {
        await parts.handle(event);
        cursor = id;
        if (event.type !== 'reconnect') tries = 0;
      }
    } catch (error) {
      if (tries > 0 && !signal.aborted) parts.onProblem(error);
    }
    await pause(BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length - 1)] ?? 0, signal);
    tries += 1;
    interrupted.abort();
  }
}
