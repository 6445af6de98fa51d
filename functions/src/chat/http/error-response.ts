import { errorReply } from '#shared/wire/errors/error-body.ts';
import { callableErrorText } from '../facades/callable/callable-events.ts';
import { openAiErrorReply } from '../facades/openai/error-reply.ts';
import type { Route } from '../route.ts';
import { COMMON_HEADERS, EVENT_HEADERS, wantsStream } from './headers.ts';

/** Who is told of an error. */
interface ErrorReader {
  format?: Route['format'];
  /** Header `accept`. */
  accept: string | undefined;
  /** Where reasons are explained. */
  docsUrl: string | undefined;
}

interface ToldError {
  response: Response;
  /** The code of the error, which the response may not carry. */
  status: number;
}

/**
 * An error in the form that the client of a route reads. A callable that asked for a stream gets it inside
 * one: of any other answer Firebase's web SDK makes a promise that never settles, and the one for Android
 * an exception on a thread of its own.
 */
export function errorResponse(
  thrown: unknown,
  { format, accept, docsUrl }: ErrorReader,
): ToldError {
  const reply = errorReply(thrown, docsUrl);
  const status = reply.httpStatus;
  if (format === 'callable' && wantsStream(accept)) {
    const headers = { ...COMMON_HEADERS, ...EVENT_HEADERS };
    return { status, response: new Response(callableErrorText(thrown, docsUrl), { headers }) };
  }
  const { headers, body } = format === 'openai' ? openAiErrorReply(thrown, docsUrl) : reply;
  return {
    status,
    response: Response.json(body, { status, headers: { ...COMMON_HEADERS, ...headers } }),
  };
}
