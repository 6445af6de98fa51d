import { randomUUID } from 'node:crypto';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';

/** A message of user u1. */
export const request = (
  conversationId: string,
  text: string,
  id: string = randomUUID(),
): SendRequest => ({
  caller: { uid: 'u1', tier: 'signedIn' },
  conversationId,
  message: { id, parts: [{ text }] },
});

/** All frames of a stream that ends. */
export async function collect(frames: AsyncIterable<StreamFrame>) {
  const all: StreamFrame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

/** The text that a reader of the frames has seen. */
export const textOf = (frames: readonly StreamFrame[]) =>
  frames.map(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');

/** Sends one message after the other and waits for each answer. */
export async function sendAll(
  dependencies: ChatDependencies,
  conversationId: string,
  texts: string[],
) {
  for (const text of texts)
    await (
      await sendMessage(dependencies, request(conversationId, text))
    ).result;
}
