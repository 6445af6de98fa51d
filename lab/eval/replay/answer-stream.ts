import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { ChatRequestError } from './chat-request-error.ts';

export const usageSchema = z.looseObject({ promptTokens: z.number(), outputTokens: z.number() });

export const contextSchema = z.looseObject({
  tokens: z.number(),
  thresholdTokens: z.number().nullable(),
  windowTokens: z.number(),
  generation: z.number(),
  compaction: z.looseObject({ state: z.string() }).nullable(),
});

const metadataSchema = z.looseObject({
  generation: z.number().optional(),
  usage: usageSchema.optional(),
});

const chunkSchema = z.looseObject({
  type: z.string(),
  messageId: z.string().optional(),
  delta: z.string().optional(),
  errorText: z.string().optional(),
  finishReason: z.string().optional(),
  messageMetadata: metadataSchema.optional(),
  data: z.unknown().optional(),
});

/** An answer as the client has it in the end. */
export interface Answer {
  messageId: string;
  text: string;
  finishReason: string;
  usage?: z.infer<typeof usageSchema>;
  /** The context object that closed the answer. */
  context?: z.infer<typeof contextSchema>;
  /** Of the context that the model saw. */
  generation: number;
}

function broken(problem: string): ChatRequestError {
  return new ChatRequestError({ status: 0, reason: 'STREAM_BROKEN', message: problem });
}

function apply(answer: Answer, data: string): void {
  const chunk = chunkSchema.parse(JSON.parse(data));
  switch (chunk.type) {
    case 'start':
      // An attempt begins with it: what an earlier one said no longer holds.
      answer.text = '';
      answer.messageId = chunk.messageId ?? '';
      answer.generation = chunk.messageMetadata?.generation ?? 0;
      return;
    case 'text-delta':
      answer.text += chunk.delta ?? '';
      return;
    case 'data-context':
      answer.context = contextSchema.parse(chunk.data);
      return;
    case 'error':
      throw broken(`the answer ended in an error: ${chunk.errorText ?? 'without a text'}`);
    case 'finish':
      answer.finishReason = chunk.finishReason ?? '';
      if (chunk.messageMetadata?.usage) answer.usage = chunk.messageMetadata.usage;
      return;
    default:
      // The format allows further chunks; a client passes over what it does not know.
      return;
  }
}

/**
 * Reads a UI message stream to its end. Throws ChatRequestError STREAM_BROKEN when it reports an error
 * or ends without `finish` and `[DONE]`.
 */
export async function readAnswerStream(body: ReadableStream<Uint8Array>): Promise<Answer> {
  const answer: Answer = { messageId: '', text: '', finishReason: '', generation: 0 };
  let isDone = false;
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
  for await (const event of events) {
    if (event.data === '[DONE]') isDone = true;
    else apply(answer, event.data);
  }
  if (!isDone || answer.finishReason === '') throw broken('the stream ended before the answer did');
  return answer;
}
