import { effect } from '@preact/signals';
import type { OpenConversation } from '../state/conversation.ts';

type Said = 'answered' | 'failed' | 'left';

/**
 * Says a text as the composer does and resolves when the transcript has its answer. `left`: the conversation is
 * not shown any more, or the signal fired.
 */
export function sayTo(
  conversation: OpenConversation,
  message: { text: string; messageId: string; signal: AbortSignal },
): Promise<Said> {
  const { text, messageId, signal } = message;
  return new Promise((resolve) => {
    let dispose: () => void = () => undefined;
    const end = (said: Said): void => {
      dispose();
      resolve(said);
    };
    if (signal.aborted) return end('left');
    signal.addEventListener('abort', () => end('left'), { once: true });
    conversation.left.addEventListener('abort', () => end('left'), { once: true });
    conversation.answers.ask({ kind: 'send', messageId, text });
    let wasLive = false;
    dispose = effect(() => {
      const turn = conversation.answers.live.value.find(
        ({ request }) => request.messageId === messageId,
      );
      wasLive ||= turn !== undefined;
      // Not within the effect: it is not disposed of yet when it runs for the first time.
      if (turn?.phase === 'failed') queueMicrotask(() => end('failed'));
      // What has ended leaves the list of live turns once the transcript shows it.
      else if (turn === undefined && wasLive) queueMicrotask(() => end('answered'));
    });
  });
}
