import { randomUUID } from 'node:crypto';
import { sendMessage } from '../../../functions/src/chat/send/send-message.ts';
import type { StoreWork } from './counted-store.ts';
import type { EmulatedChat } from './emulated-chat.ts';

export interface TurnWork extends StoreWork {
  /** From the message to the end of its answer's stream. */
  ms: number;
  /** Between Firestore's client and the database, both ways. */
  bytes: number;
  promptTokens: number;
}

/** Sends one message, reads its stream to the end, and tells what that took. */
export async function oneTurn(world: EmulatedChat, conversationId: string): Promise<TurnWork> {
  const { chat, counted, wire, standIn } = world;
  counted.take();
  standIn.clearJournal();
  const bytesBefore = wire.bytes();
  const startedAt = performance.now();
  const handle = await sendMessage(chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    message: {
      id: randomUUID(),
      parts: [{ text: 'Where is it quiet in the morning, and for how long?' }],
    },
  });
  handle.attend(new AbortController().signal);
  for await (const _ of handle.frames());
  await handle.result;
  const ms = performance.now() - startedAt;
  const promptTokens = standIn.journal()[0]?.promptTokens ?? Number.NaN;
  return { ...counted.take(), ms, bytes: wire.bytes() - bytesBefore, promptTokens };
}
