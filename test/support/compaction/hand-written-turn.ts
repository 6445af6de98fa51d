import { randomUUID } from 'node:crypto';
import type { SendHandle, SendRequest } from '#functions/chat/turns/send/send-request.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';

export const someContext: ContextObject = {
  tokens: 110,
  thresholdTokens: 1_000,
  windowTokens: 10_000,
  percent: 1.1,
  source: 'reported',
  generation: 0,
  compaction: null,
};

/** A finished turn that answers `request` with `text`. */
export const finishedTurn = (request: SendRequest, text: string): Turn => ({
  schemaVersion: 1,
  seq: 1,
  messageId: request.message.id,
  state: 'done',
  attempt: 1,
  producer: 'p',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  finishTime: new Date(1_000),
  tokens: { user: 1, answer: 1 },
  usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 },
  finishReason: 'STOP',
  inContext: true,
  user: { role: 'user', parts: request.message.parts },
  contents: [
    {
      role: 'model',
      parts: [
        { text: 'private thought', thought: true },
        { text, thoughtSignature: 'signature' },
      ],
    },
  ],
});

/** A send use case that a test writes by hand; it remembers what it was asked. */
export function handWrittenSend(
  answer: (request: SendRequest) => Pick<SendHandle, 'frames'> & Partial<SendHandle>,
) {
  const requests: SendRequest[] = [];
  const sendMessage = (_: ChatDependencies, request: SendRequest): Promise<SendHandle> => {
    requests.push(request);
    return Promise.resolve({
      turnId: 't_1',
      conversationId: request.conversationId,
      generation: 3,
      replayed: false,
      subscribe: () => undefined,
      result: Promise.resolve({
        turn: finishedTurn(request, 'Fine.'),
        context: someContext,
        replayed: false,
      }),
      ...answer(request),
    });
  };
  return { requests, sendMessage };
}

/** Frames from a list. */
export async function* framesOf(...frames: readonly StreamFrame[]): AsyncGenerator<StreamFrame> {
  for (const frame of frames) yield await Promise.resolve(frame);
}

/** The last frame of a turn, as the AI SDK ends a stream. */
export const finish: StreamFrame = {
  id: 9,
  chunk: { type: 'finish', finishReason: 'stop', messageMetadata: { generation: 3 } },
};

/** The body of a message. */
export const greeting = () => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] },
});

/** The messages of a conversation that is not there yet. */
export const newMessagesPath = () => `/v1/conversations/${randomUUID()}/messages`;
