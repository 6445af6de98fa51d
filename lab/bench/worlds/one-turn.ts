import { randomUUID } from 'node:crypto';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { reservationOf } from '../bench-conversation.ts';
import type { StoreWork } from './counted-store.ts';
import type { EmulatedChat } from './emulated-chat.ts';

export interface TurnWork extends StoreWork {
  /** From the message to the end of its answer's stream. */
  ms: number;
  firstTextMs: number;
  /** Tokens that were brought back of turns that are folded. */
  recalledTokens: number;
  /** Between Firestore's client and the database, both ways. */
  bytes: number;
  promptTokens: number;
}

/** What every message asks for: of a long conversation a turn that is folded. */
const ASKED = `What does a night cost with the reservation ${reservationOf(7)}?`;

/** Sends one message, reads its stream to the end, and tells what that took. */
export async function oneTurn(
  world: EmulatedChat,
  conversationId: string,
  options: { recallTokens?: number } = {},
): Promise<TurnWork> {
  const { chat, counted, wire, fakeGemini } = world;
  counted.take();
  fakeGemini.clearJournal();
  const bytesBefore = wire.bytes();
  const startedAt = performance.now();
  const handle = await sendMessage(chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    message: { id: randomUUID(), parts: [{ text: ASKED }] },
    ...options,
  });
  handle.subscribe(new AbortController().signal);
  let firstTextMs = Number.NaN;
  for await (const { chunk } of handle.frames())
    if (chunk.type === 'text-delta' && Number.isNaN(firstTextMs))
      firstTextMs = performance.now() - startedAt;
  const { turn } = await handle.result;
  const ms = performance.now() - startedAt;
  const promptTokens = fakeGemini.journal()[0]?.promptTokens ?? Number.NaN;
  return {
    ...counted.take(),
    ms,
    firstTextMs,
    recalledTokens: turn.recalled?.tokens ?? 0,
    bytes: wire.bytes() - bytesBefore,
    promptTokens,
  };
}
