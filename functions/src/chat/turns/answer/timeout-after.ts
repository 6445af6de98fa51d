import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { ABORT_REASON } from '#functions/lib/abort-reason.ts';

/** Fires after `ms`; `stop` ends the timer. */
export function timeoutAfter({ clock }: Pick<ChatDependencies, 'clock'>, ms: number) {
  const timeout = new AbortController();
  const stopped = new AbortController();
  void clock.wait(ms, stopped.signal).then(() => {
    if (!stopped.signal.aborted) timeout.abort();
  });
  return { signal: timeout.signal, stop: () => stopped.abort(ABORT_REASON) };
}
