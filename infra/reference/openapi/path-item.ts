import { streamResponse } from '#shared/wire/resources/streams.ts';
import type { Route, ResponseMedia } from '#functions/chat/route.ts';
import { errorResponses, responseMedia } from './error-responses.ts';
import {
  reference,
  type JsonSchema,
  inputSchema,
  takesNoBody,
  type Components,
} from './schemas.ts';

/** What each chapter of the reference is about; one that is missing here is described by its name. */
const descriptions: Readonly<Record<string, string>> = {
  service: 'What anybody may ask: health, this document, and what a reason of an error means.',
  conversations:
    'Conversations of the caller and their life: create, change, delete, fork, export.',
  messages: 'The transcript, and ways to add to it; each answers as one JSON or as a stream.',
  turns: 'One question with its answer: how it stands, its stream, and its end.',
  stream: 'The stream of whatever the conversation is answering.',
  context: 'What the model would see now.',
  compactions: 'How the older part of a conversation became a summary.',
  foldedTurns: 'For webhooks that are called before a compaction: the turns that it folds.',
  pins: 'Facts that stay word for word through every compaction.',
  uploads: 'Files for messages: sent to a bucket first, then named by their ids.',
  events: 'What happens in the caller’s list of conversations, as it happens.',
  search: 'Messages of all conversations of the caller.',
  usage: 'What the caller has taken today, and what is left.',
  devices: 'Where the caller is told of answers that nobody waited for.',
  memories: 'Notes about the caller that every conversation has.',
  users: 'Everything of the caller at once.',
  'ai-sdk': 'For `useChat` of the AI SDK; the same conversations in its protocol.',
  openai:
    'For clients of OpenAI’s chat completions and Responses; the same conversations in their protocols.',
  callable: 'For Firebase callable functions; the same conversations in their protocol.',
};

/** Which chapter a route belongs to: the collection below a conversation or a user, or the first word. */
function toTag({ path, access }: Pick<Route, 'path' | 'access'>): string {
  const [first = '', , below] = path.replace(/^\/(v1\/)?/, '').split('/');
  const isOwner = first === 'conversations' || first === 'users';
  if (access === 'public' && !isOwner) return 'service';
  return isOwner && below !== undefined ? below.replace(/:.*$/, '') : first;
}

/** A tag of the document. */
export const describedTag = (name: string) => ({
  name,
  description: descriptions[name] ?? `Everything under \`${name}\`.`,
});

/*
 * OpenAPI 3.2 describes one event of a stream with `itemSchema`. This document is 3.1, because generators for
 * Java refuse 3.2. What reads 3.1 takes the `schema` of `text/event-stream` for one event, too, as EventSource
 * gives it: an object with `id` and `data`.
 */

const streamEvent: JsonSchema = {
  type: 'object',
  description:
    'One event of a stream of server-sent events, as EventSource gives it. There are no `event:` lines; comments are heartbeats.',
  required: ['data'],
  properties: {
    id: { type: 'string', description: 'A whole number that rises; the last event has none.' },
    data: {
      type: 'string',
      description: 'A StreamChunk on one line; `[DONE]` in the last event.',
      if: { const: '[DONE]' },
      else: { contentMediaType: 'application/json', contentSchema: reference('StreamChunk') },
    },
  },
};

/** An event of a stream that is none of a turn: its route declares what each one says. */
const ownEvent = (said: JsonSchema): JsonSchema => ({
  type: 'object',
  description:
    'One event of a stream of server-sent events. There are no `event:` lines; comments are heartbeats.',
  required: ['id', 'data'],
  properties: {
    id: { type: 'string', description: 'The cursor behind it.' },
    data: {
      type: 'string',
      description: 'JSON on one line.',
      contentMediaType: 'application/json',
      contentSchema: said,
    },
  },
});

const facadeStreamEvent: JsonSchema = {
  type: 'object',
  description:
    'One event of a stream of server-sent events, as the protocol of this façade has it.',
  required: ['data'],
  properties: {
    data: { type: 'string', description: 'JSON on one line; OpenAI’s clients end at `[DONE]`.' },
  },
};

const isOurStream = ({ format = 'aip' }: Pick<Route, 'format'>) =>
  format === 'aip' || format === 'ai-sdk';

const hasOwnEvents = (route: Route) =>
  responseMedia(route).every((media) => media === 'text/event-stream') &&
  route.response !== streamResponse;

/** What one event of a route's stream is. */
const eventSchema = (route: Pick<Route, 'format'>): JsonSchema =>
  reference(isOurStream(route) ? 'StreamEvent' : 'FacadeStreamEvent');

/** The named schemas that events of these routes have. */
export const eventSchemas = (
  streaming: readonly Pick<Route, 'format'>[],
): Record<string, JsonSchema> => ({
  ...(streaming.some(isOurStream) && { StreamEvent: streamEvent }),
  ...(!streaming.every(isOurStream) && { FacadeStreamEvent: facadeStreamEvent }),
});

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

function parametersOf(schema: JsonSchema, place: 'path' | 'query'): Parameter[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = typeof property === 'boolean' ? {} : property;
    return {
      name,
      in: place,
      required: place === 'path' || (schema.required ?? []).includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

const header = (name: string, description: string, words?: readonly string[]): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...(words && { enum: [...words] }) },
});

/** What clients of EventSource send by themselves, where a route takes it in the query, too. */
const LAST_EVENT_ID = header(
  'Last-Event-ID',
  'Continues a stream after this event, a whole number, as EventSource clients do by themselves; empty is none, and `startingAfter` goes before it.',
);

/** Path, query and header parameters of a route. */
function parametersOfRoute(route: Route): Parameter[] {
  const query = parametersOf(inputSchema(route.query), 'query');
  return [
    ...parametersOf(inputSchema(route.params), 'path'),
    ...query,
    ...(query.some(({ name }) => name === 'startingAfter') ? [LAST_EVENT_ID] : []),
    ...Object.entries(route.requestHeaders ?? {}).map(([name, told]) =>
      typeof told === 'string' ? header(name, told) : header(name, told.description, told.enum),
    ),
  ];
}

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
      return { schema: hasOwnEvents(route) && reply ? ownEvent(reply) : eventSchema(route) };
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
