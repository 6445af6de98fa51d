import type { RouteDependencies } from './route.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { AppError } from '#shared/lib/errors.ts';
import { once } from '#shared/lib/once.ts';
import { errorReply } from '#shared/wire/errors/error-body.ts';
import { HEARTBEAT_INTERVAL_MS } from '#shared/lib/limits.ts';
import { guardServer } from '#functions/lib/guard-server.ts';
import { ABORT_REASON } from '#functions/lib/async-iterators.ts';
import { createChatApp } from './chat-app.ts';
import { publicDocsUrl } from './http/error-response.ts';
import { sentText, breakOff, writeText } from './http/sent-text.ts';
import type { SendMessage } from './turns/send/send-request.ts';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { IncomingMessage, ServerResponse } from 'node:http';

const unusableRequest = (cause: unknown) =>
  new AppError({
    reason: 'BAD_REQUEST_LINE',
    publicMessage: 'The address or the Host header of the request cannot be read.',
    cause,
  });

/** Loaded with the first message: whoever only asks for health, a list or an upload does without. */
const loadSending = once(() => import('./turns/send/send-message.ts'));

const sendMessage: SendMessage = async (dependencies, request) => {
  const sending = await loadSending();
  return sending.sendMessage(dependencies, request);
};

/**
 * The router never throws, so what arrives here is a request that could not be built, of whose own address nothing
 * can be told.
 */
const answerUnusable =
  ({ PUBLIC_URL }: ChatDependencies['config']) =>
  (error: unknown): Response => {
    const docs = PUBLIC_URL === undefined ? undefined : publicDocsUrl(PUBLIC_URL);
    const { httpStatus, headers, body } = errorReply(unusableRequest(error), docs);
    return Response.json(body, { status: httpStatus, headers });
  };

/**
 * The `chat` function for the functions framework. Resolves when the answer is out *and* its turn has
 * ended: a client that hangs up does not stop the turn, and the instance keeps its CPU for it.
 */
export function createChatHandler(
  dependencies: ChatDependencies,
  collaborators: Partial<Pick<RouteDependencies, 'sendMessage' | 'heartbeatMs'>> = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const app = createChatApp({
    ...dependencies,
    sendMessage,
    heartbeatMs: HEARTBEAT_INTERVAL_MS,
    ...collaborators,
  });
  return async (request, response) => {
    if ('server' in request.socket) guardServer(request.socket.server);
    const work: Promise<unknown>[] = [];
    const connection = new AbortController();
    response.once('close', () => connection.abort(ABORT_REASON));
    const bindings = { work, breakOff: () => breakOff(response), left: connection.signal };
    const answer = async (webRequest: Request): Promise<Response> => {
      const answered = await app.fetch(webRequest, bindings);
      const text = sentText(answered.body);
      if (!text) return answered;
      work.push(writeText(response, text, answered));
      return RESPONSE_ALREADY_SENT;
    };
    const listen = getRequestListener(answer, {
      overrideGlobalObjects: false,
      errorHandler: answerUnusable(dependencies.config),
    });
    await listen(request, response);
    await Promise.allSettled(work);
    await Promise.allSettled(dependencies.afterwork);
  };
}
