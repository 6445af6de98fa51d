import { errorReply } from '#shared/wire/errors/error-body.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { streamText, type StreamOptions } from '../translation/answer.ts';

/*
 * The stream of a callable. Firebase's SDK for iOS gives up at any line that does not begin with `data:`, a
 * comment too (firebase-ios-sdk issue 16605): a sign of life is a message like any other.
 */

const event = (data: object) => `data: ${singleLineJson(data)}\n\n`;

const SILENCE = event({ message: { type: 'data-heartbeat' } });

/** An error as the last event of a stream whose HTTP status says that all is well. */
export const callableErrorText = (thrown: unknown, docsUrl?: string): string => {
  const { status, message, details } = errorReply(thrown, docsUrl).body.error;
  return event({ error: { status, message, details } });
};

/** What a callable does, for one who asked for a stream or not. */
export interface CallableCall {
  /** What happens meanwhile. */
  frames: AsyncIterable<StreamFrame>;
  /** What comes of it; to be asked for after the last frame. Rejects with AppError. */
  result: () => Promise<object>;
}

async function* events(
  { frames, result }: CallableCall,
  left: AbortSignal,
): AsyncGenerator<string> {
  for await (const { chunk } of frames) yield event({ message: chunk });
  if (!left.aborted) yield event({ result: await result() });
}

/**
 * The text of a callable's stream: a message for each chunk and for each silence, and at the end the result or
 * the error. Never throws: a stream that is cut for another server to go on with ends in an error that says so,
 * because none of Firebase's SDKs comes back by itself.
 */
export function callableText(call: CallableCall, options: StreamOptions): AsyncGenerator<string> {
  const failed = (error: unknown) => callableErrorText(error, options.docsUrl);
  return streamText(events(call, options.left), { silence: SILENCE, failed }, options);
}
