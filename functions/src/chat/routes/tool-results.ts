import { turnParams } from '#shared/wire/fields.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { toolResultsBody } from '#shared/wire/resources/tool-results.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { preferredLocale } from '../http/headers.ts';
import { userRoute } from '../route.ts';
import { answerCalls } from '../turns/tools/answer-calls.ts';
import { toToolResult } from '../turns/tools/given-result.ts';
import { turnReply } from './parts/turn-reply.ts';

export const toolResultsRoute = userRoute({
  operation: 'answerToolCalls',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/turns/{turnId}/toolResults',
  summary:
    'Answers calls of the model that the app runs, or allows a tool of the server. When no call is open any more the turn goes on, and its answer comes as that of a message does; before, the turn with its `openCalls`.',
  params: turnParams,
  query: noQuery,
  body: toolResultsBody,
  response: sendMessageResponse,
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  requestHeaders: {
    Accept: '`text/event-stream` streams the answer; else one JSON comes at its end.',
    'Accept-Language': 'Where `locale` is left out: the language of the sentences for people.',
  },
  responseHeaders: { 'X-Turn-Id': 'The turn that answers.' },
  errors: ['TOOL_CALL_NOT_FOUND', 'TOOL_RESULT_CONFLICT', 'TEXT_TOO_LONG'],
  example: { results: [{ callId: 't_17_c0', output: { latitude: 59.9, longitude: 10.7 } }] },
  handle: async (dependencies, { caller, params, body, header, left }) => {
    const handle = await answerCalls(dependencies, {
      caller,
      ...params,
      results: body.results.map((result, index) =>
        toToolResult(result, `results[${index}].output`),
      ),
      locale: body.locale ?? preferredLocale(header('accept-language')),
    });
    return turnReply(dependencies, handle, { accept: header('accept'), left });
  },
});
