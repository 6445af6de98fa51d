import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { countStore, type StoreWork } from './counted-store.ts';

const ANSWER_MS = 6_000;
const WORD_MS = 50;

/** Says a word every 50 ms, for six seconds. */
const slowSpeaker: ModelStreamer = {
  async *stream() {
    for (let saidMs = 0; saidMs < ANSWER_MS; saidMs += WORD_MS) {
      yield { parts: [{ text: 'word ' }] };
      await delay(WORD_MS);
    }
    yield { parts: [], finishReason: 'STOP' };
  },
};

/**
 * What an answer of six seconds asks of the store, in a new conversation. The store is one in memory: nothing there makes
 * a chunk late, so there are as many as there can be.
 */
export async function answerOfSixSeconds(): Promise<StoreWork> {
  const { store, take } = countStore(createMemoryDocumentStore());
  const chat = chatDependencies({ store, model: slowSpeaker, clock: systemClock });
  const { result } = await sendMessage(chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId: randomUUID(),
    message: { id: randomUUID(), parts: [{ text: 'Tell me.' }] },
  });
  await result;
  return take();
}
