import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { AppError } from '#shared/lib/errors.ts';
import { request } from '#test/support/chat/sending.ts';
import type { EmulatedChat } from './emulated-chat.ts';

const AT_ONCE = 20;
/** Both sides come back after a random part of this. */
const BACK_OFF_MS = 50;

const backOff = () => delay(Math.random() * BACK_OFF_MS);

async function sendUntilAnswered({ chat }: EmulatedChat, conversationId: string): Promise<void> {
  const message = request(conversationId, 'Hello there');
  for (;;) {
    try {
      const { result } = await sendMessage(chat, message);
      await result;
      return;
    } catch (error) {
      if (!(error instanceof AppError && error.retryable)) throw error;
      await backOff();
    }
  }
}

const elapsed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** Twenty phones send into one new conversation at once, until all are answered. Resolves to ms. */
export function parallelSendsMs(world: EmulatedChat): Promise<number> {
  const conversationId = randomUUID();
  return elapsed(() =>
    Promise.all(Array.from({ length: AT_ONCE }, () => sendUntilAnswered(world, conversationId))),
  );
}

/**
 * Adds to one conversation document under its update time what a turn adds, in two batches; begins again where it lost.
 */
async function writeUntilDone({ raw }: EmulatedChat, conversationId: string): Promise<void> {
  const conversation = raw.doc(`contention/${conversationId}`);
  const turn = conversation.collection('turns').doc();
  for (;;) {
    const { updateTime } = await conversation.get();
    if (updateTime === undefined) throw new Error('the head is gone');
    const start = raw.batch();
    start.update(conversation, { seq: randomUUID() }, { lastUpdateTime: updateTime });
    start.create(turn, { text: 'Hello there' });
    start.create(conversation.collection('messages').doc(turn.id), { seq: 1 });
    try {
      await start.commit();
      break;
    } catch {
      await backOff();
    }
  }
  const finish = raw.batch();
  finish.update(conversation, { open: randomUUID() });
  finish.update(turn, { answer: 'Noted.' });
  finish.create(turn.collection('chunks').doc('1'), { text: 'Noted.' });
  await finish.commit();
}

/** As many writers with Google's client alone, with as many guarded batches. Resolves to ms. */
export async function bareBurstMs(world: EmulatedChat): Promise<number> {
  const conversationId = randomUUID();
  await world.raw.doc(`contention/${conversationId}`).create({ seq: '' });
  return elapsed(() =>
    Promise.all(Array.from({ length: AT_ONCE }, () => writeUntilDone(world, conversationId))),
  );
}
