import { errorStatuses, errorReasonRows } from '#shared/lib/error-reasons.ts';
import { type Route, noBody, type ResponseMedia } from '#functions/chat/route.ts';
import { answersOfRow } from '#shared/wire/errors/explain-reason.ts';
import { streamResponse } from '#shared/wire/resources/streams.ts';
import { inputSchema, reference, type JsonSchema } from './schemas.ts';

/** In which forms a route's success comes; none where it says nothing. */
export function responseMedia({ media, response }: Route): readonly ResponseMedia[] {
  if (media) return media;
  if (response === streamResponse) return ['text/event-stream'];
  return response === noBody ? [] : ['application/json'];
}

/** One reason as a route may answer with it. */
interface RouteError {
  httpStatus: number;
  status: string;
  reason: string;
  meaning: string;
}

const errorsOfRow = (row: (typeof errorReasonRows)[number]): RouteError[] =>
  answersOfRow(row).map((answer) => ({ ...answer, reason: row.reason, meaning: row.meaning }));

/** Every reason of the API with its codes. */
export const allErrors: readonly RouteError[] = errorReasonRows.flatMap(errorsOfRow);

/** Whether a route answers with server-sent events, if only when asked. */
export const streams = (route: Route) => responseMedia(route).includes('text/event-stream');

const startsAnswer = (route: Route) => route.method === 'POST' && streams(route);

function isMet(route: Route, { on, reason }: (typeof errorReasonRows)[number]): boolean {
  const declared: readonly string[] = route.errors ?? [];
  if (declared.includes(reason)) return true;
  switch (on) {
    case 'every':
      return true;
    case 'user':
      return route.access === 'user';
    case 'body':
      return route.method !== 'GET';
    case 'write':
      return route.method !== 'GET' && route.access === 'user';
    case 'change':
      return route.method !== 'GET' && route.path.includes('{conversationId}');
    case 'path':
      return /\{(?!conversationId\})/.test(route.path);
    case 'paged':
      return 'pageToken' in (inputSchema(route.query).properties ?? {});
    case 'answer':
      return startsAnswer(route);
    case undefined:
      return false;
    default:
      return route.path.includes(on);
  }
}

/** What a route may refuse a request with, in the order of HTTP codes and of the table. */
const routeErrors = (route: Route): RouteError[] =>
  errorReasonRows
    .filter((row) => isMet(route, row))
    .flatMap(errorsOfRow)
    .toSorted((a, b) => a.httpStatus - b.httpStatus);

/** AIP-193, as `shared/wire/errors/error-body.ts` writes it. */
export const errorSchema: JsonSchema = {
  type: 'object',
  description: 'An error as AIP-193 has it; `details` begin with an ErrorInfo.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'status', 'message', 'details'],
      properties: {
        code: { type: 'integer', description: 'The HTTP code.' },
        status: { type: 'string', enum: [...errorStatuses] },
        message: { type: 'string', description: 'What is wrong and what helps, in English.' },
        details: { type: 'array', minItems: 1, items: reference('ErrorDetail') },
      },
    },
  },
};

export const errorDetailSchema: JsonSchema = {
  oneOf: [
    {
      type: 'object',
      required: ['@type', 'reason', 'domain', 'metadata'],
      properties: {
        '@type': { type: 'string', const: 'type.googleapis.com/google.rpc.ErrorInfo' },
        reason: { type: 'string', description: 'What clients decide by; a new one may come.' },
        domain: { type: 'string', const: 'recap' },
        metadata: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    {
      type: 'object',
      required: ['@type', 'retryDelay'],
      properties: {
        '@type': { type: 'string', const: 'type.googleapis.com/google.rpc.RetryInfo' },
        retryDelay: { type: 'string', pattern: '^\\d+(\\.\\d+)?s$' },
      },
    },
    {
      type: 'object',
      required: ['@type', 'links'],
      properties: {
        '@type': { type: 'string', const: 'type.googleapis.com/google.rpc.Help' },
        links: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['description', 'url'],
            properties: {
              description: { type: 'string' },
              url: { type: 'string', format: 'uri', description: 'Explains the reason.' },
            },
          },
        },
      },
    },
  ],
};

/** What OpenAI's and Firebase's clients read of an error; façades send the rest of AIP-193 beside it. */
export const facadeErrorSchema: JsonSchema = {
  type: 'object',
  description: 'An error in the form that the clients of this façade read.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message'],
      properties: { message: { type: 'string' }, status: { type: 'string' } },
      additionalProperties: true,
    },
  },
};

/** Whether a route's errors take the form of another protocol. */
export const hasFacadeErrors = ({ format }: Pick<Route, 'format'>) =>
  format === 'openai' || format === 'callable';

const RETRY_HEADERS = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

function errorResponse(route: Route, errors: readonly RouteError[]) {
  const isWaiting = errors.some(({ httpStatus }) => [409, 429, 503].includes(httpStatus));
  const statuses = [...new Set(errors.map(({ status }) => status))];
  const reasons = [...new Set(errors.map(({ reason }) => reason))];
  return {
    description: `${statuses.join(' or ')}: ${reasons.map((reason) => `\`${reason}\``).join(', ')}.`,
    'x-reasons': reasons,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(isWaiting && RETRY_HEADERS),
    },
    content: {
      'application/json': { schema: reference(hasFacadeErrors(route) ? 'FacadeError' : 'Error') },
    },
  };
}

/** The error answers of a route by HTTP code; not needed for success. */
export function errorResponses(route: Route): Record<string, ReturnType<typeof errorResponse>> {
  const byCode = Map.groupBy(routeErrors(route), ({ httpStatus }) => String(httpStatus));
  return Object.fromEntries(
    [...byCode].map(([code, errors]) => [code, errorResponse(route, errors)]),
  );
}
