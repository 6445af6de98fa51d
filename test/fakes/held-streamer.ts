import { contentText } from '#shared/conversation/documents/content.ts';
import type { ModelRequest, ModelStreamer } from '#shared/ports/ports.ts';

interface HeldCall {
  request: ModelRequest;
  /** What the user says last. */
  text: string;
  /** Lets the answer out. */
  answer(): void;
}

/**
 * A model that answers `Answer to {text}.`, each call when a test lets it, or at once after `answerAll`.
 */
export function heldStreamer() {
  const calls: HeldCall[] = [];
  const open = Promise.withResolvers<void>();
  const model: ModelStreamer = {
    async *stream(request, signal) {
      const gate = Promise.withResolvers<void>();
      const last = request.contents.at(-1);
      const text = last ? contentText(last) : '';
      calls.push({ request: structuredClone(request), text, answer: gate.resolve });
      const stopped = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([gate.promise, open.promise, stopped.promise]);
      signal.throwIfAborted();
      yield { parts: [{ text: `Answer to ${text}.` }] };
      yield {
        parts: [],
        finishReason: 'STOP',
        usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 },
      };
    },
  };
  return { model, calls, answerAll: () => open.resolve() };
}
