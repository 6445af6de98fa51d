import { type RouteDependencies, type Reply, ANSWER_HEADERS, TURN_HEADER } from '../route.ts';
import type { StreamReader } from '../turns/stream/stream-turn.ts';
import { streamReply } from './parts/stream-reply.ts';
import { preferredLocale, wantsStream } from '../http/headers.ts';
import type { WrittenFrame } from '../http/sse.ts';
import type { FinishedTurn } from '../turns/live-turn.ts';
import type { SendRequest, SendHandle } from '../turns/send/send-request.ts';
import { refuseTooLong, toPart } from '#shared/wire/resources/message-parts.ts';
import {
  type sendMessageBody,
  answerView,
  userMessageView,
  sendMessageResponse,
} from '#shared/wire/resources/messages.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { turnView, usageView } from '#shared/wire/resources/turns.ts';
import type { z } from 'zod';

type Body = z.infer<typeof sendMessageBody>;

/** The message of a body as the use case takes it. Throws TEXT_TOO_LONG. */
export function messageOfBody(
  { config }: Pick<RouteDependencies, 'config'>,
  { id, parts, retention }: Body['message'],
): SendRequest['message'] {
  const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } = config;
  refuseTooLong(parts, { maxPartBytes, maxMessageBytes });
  return { id, parts: parts.map(toPart), ...(retention && { retention }) };
}

/** How the caller wants to be answered: in the language that the body names, else in that of the request. */
export function answerOptions(
  body: {
    locale?: string | null | undefined;
    onBusy?: Body['onBusy'] | null;
    recallTokens?: number | null | undefined;
    clientContext?: Body['clientContext'] | null;
    responseSchema?: Body['responseSchema'] | null;
  },
  header: (name: string) => string | undefined,
): Pick<SendRequest, 'locale' | 'onBusy' | 'recallTokens' | 'clientContext' | 'options'> {
  const locale = body.locale ?? preferredLocale(header('accept-language'));
  const { onBusy, recallTokens, clientContext, responseSchema } = body;
  return {
    ...(locale !== undefined && { locale }),
    ...(onBusy && { onBusy }),
    ...(typeof recallTokens === 'number' && { recallTokens }),
    ...(clientContext && { clientContext }),
    ...(responseSchema && { options: { responseSchema } }),
  };
}

/** A finished turn as one JSON. */
export const turnBody = ({ turn, context, replayed, shrinkage }: FinishedTurn) => ({
  turn: turnView(turn),
  userMessage: userMessageView(turn),
  message: answerView(turn),
  context,
  usage: turn.usage ? usageView(turn.usage) : null,
  replayed,
  ...(shrinkage && { shrunken: shrinkage }),
});

const jsonReply = async (handle: SendHandle): Promise<Reply> => ({
  kind: 'json',
  headers: { 'x-turn-id': handle.turnId },
  body: turnBody(await handle.result),
});

/** What routes declare whose answer is that to a message: a stream, or one JSON. */
export const messageReply = {
  response: sendMessageResponse,
  media: ['application/json', 'text/event-stream'],
  requestHeaders: ANSWER_HEADERS,
  responseHeaders: TURN_HEADER,
} as const;

interface ReplyOptions {
  accept: string | undefined;
  /** Fires when the caller's connection closes. */
  left: AbortSignal;
  /** How a façade says the frames of a stream; default: as they are. */
  shownAs?: (
    frames: AsyncIterable<StreamFrame>,
    reader: StreamReader,
  ) => AsyncIterable<WrittenFrame>;
}

/**
 * The answer of a turn as the caller's Accept header asks for it: a stream, or one JSON when it has ended. The
 * caller counts as waiting for it until it has `left`.
 */
export const turnReply = async (
  dependencies: RouteDependencies,
  handle: SendHandle,
  { accept, left, shownAs = (frames) => frames }: ReplyOptions,
): Promise<Reply> => {
  handle.subscribe(left);
  const { turnId, generation } = handle;
  return wantsStream(accept)
    ? streamReply(dependencies, {
        turnId,
        generation,
        frames: (reader) => shownAs(handle.frames(reader.left), reader),
        work: handle.result,
      })
    : jsonReply(handle);
};
