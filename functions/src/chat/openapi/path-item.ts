import type { ResponseMedia, Route } from '../route.ts';
import { errorResponses, responseMedia } from './error-responses.ts';
import { parametersOfRoute } from './parameters.ts';
import { toTag } from './tags.ts';
import { takesNoBody, type Components, type JsonSchema } from './schemas.ts';
import { eventSchema } from './stream-events.ts';

/** Statuses that never have a body. */
const EMPTY = new Set([204, 304]);

const statusTexts: Readonly<Record<number, string>> = {
  200: 'Success.',
  201: 'It was created.',
  202: 'It is on its way.',
  204: 'Done; there is nothing to say.',
  304: 'Nothing has changed.',
};

function mediaSchema(route: Route, media: ResponseMedia, reply: JsonSchema | undefined) {
  switch (media) {
    case 'application/json':
      return { schema: reply ?? {} };
    case 'application/jsonl':
      return {
        schema: {
          type: 'string',
          description: 'A JSON object a line.',
          contentMediaType: 'application/json',
          ...(reply && { contentSchema: reply }),
        },
      };
    case 'text/markdown':
      return { schema: { type: 'string' } };
    case 'text/event-stream':
      return { schema: eventSchema(route) };
  }
}

function successHeaders(route: Route) {
  const own = Object.entries(route.responseHeaders ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...Object.fromEntries(own),
  };
}

function successResponse(route: Route, { status, reply }: { status: number; reply?: JsonSchema }) {
  const content = responseMedia(route).map((media) => [media, mediaSchema(route, media, reply)]);
  return {
    description: statusTexts[status] ?? 'Success.',
    headers: successHeaders(route),
    ...(!EMPTY.has(status) && { content: Object.fromEntries(content) }),
  };
}

function requestBody(route: Route, body: JsonSchema | undefined) {
  if (!body || takesNoBody(route)) return undefined;
  return {
    // A missing body is read as `{}`.
    required: !route.body.safeParse({}).success,
    content: {
      'application/json': {
        schema: body,
        ...(route.example !== undefined && { example: route.example }),
      },
    },
  };
}

const security = ({ access }: Route) => (access === 'public' ? [] : [{ idToken: [] }]);

/** The operation that an OpenAPI path item has for a route. */
function toOperation(route: Route, components: Components) {
  const body = requestBody(route, components.bodyOf(route));
  const reply = components.replyOf(route);
  const successes = route.statuses.map((status) => [
    String(status),
    successResponse(route, { status, ...(reply && { reply }) }),
  ]);
  return {
    operationId: route.operation,
    summary: (/^[^.;:]*/.exec(route.summary)?.[0] ?? '').trim(),
    description: route.summary,
    tags: [toTag(route)],
    security: security(route),
    parameters: parametersOfRoute(route),
    ...(body && { requestBody: body }),
    responses: { ...Object.fromEntries(successes), ...errorResponses(route) },
    ...(route.format && { 'x-format': route.format }),
  };
}

export type Operation = ReturnType<typeof toOperation>;

/** `compactConversation` under its alias `:compress`: operations have ids of their own. */
const aliasId = (operation: string, alias: string) => {
  const verb = /:(\w+)$/.exec(alias)?.[1] ?? 'alias';
  return `${operation}As${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
};

/** Every path of a route with its operation; aliases say what they stand for. */
export function toPaths(route: Route, components: Components): [string, Operation][] {
  const operation = toOperation(route, components);
  const aliases = (route.aliases ?? []).map((alias): [string, Operation] => [
    alias,
    {
      ...operation,
      operationId: aliasId(route.operation, alias),
      description: `Another name of \`${route.path}\`. ${route.summary}`,
    },
  ]);
  return [[route.path, operation], ...aliases];
}
