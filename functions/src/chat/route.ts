import { AppError } from '#shared/lib/errors.ts';
import type { SignedInCaller } from '#shared/ports/ports.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import type { ErrorReasonName } from '#shared/lib/error-reasons.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import type { SendMessage } from './turns/send/send-request.ts';
import type { StreamReader } from './turns/stream/stream-turn.ts';
import { preferredLocale } from './http/headers.ts';
import { notFoundError } from './not-found.ts';
import { z } from 'zod';

/** What routes work with: the dependencies and the one use case that streams. */
export interface RouteDependencies extends ChatDependencies {
  sendMessage: SendMessage;
  /** Silence after which a stream sends a comment, ms. */
  heartbeatMs: number;
  /** Where reasons of errors are explained, as whoever sent the request reaches it; the router sets it. */
  docsUrl?: string;
}

interface JsonReply {
  kind: 'json';
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}

/** A header that takes a few words alone. */
interface DescribedHeader {
  description: string;
  enum: readonly string[];
}

interface StreamReply {
  kind: 'stream';
  headers: Record<string, string>;
  /** Throwing in it breaks the transfer off, so that the client comes back. */
  text: (reader: StreamReader) => AsyncIterableIterator<string>;
  /** What must end before the request counts as served, also when the client has gone. */
  work: Promise<unknown>;
}

/** A success that has nothing to say, or nothing new (304). */
interface EmptyReply {
  kind: 'empty';
  status: 204 | 304;
  headers?: Record<string, string>;
}

/** A text that is written while it is sent: what a client has taken is not kept. */
export interface TextReply {
  kind: 'text';
  headers: Record<string, string>;
  /** Throwing in it breaks the transfer off, so that the client does not take a part for the whole. */
  text: AsyncIterableIterator<string>;
  /** What is logged then. */
  brokenEvent: string;
}

export type Reply = JsonReply | StreamReply | EmptyReply | TextReply;

export const json = (body: unknown): Reply => ({ kind: 'json', body });

export const noContent: Reply = { kind: 'empty', status: 204 };

/** A request as it came in, its body parsed as JSON but not yet checked. */
interface RawRequest {
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
  header: (name: string) => string | undefined;
  /** Undefined on public routes only. */
  caller: SignedInCaller | undefined;
  /** Fires when the connection of the response is closed: whoever asked has the answer, or has gone. */
  left: AbortSignal;
}

interface PublicRequest<Params, Query, Body> extends Pick<RawRequest, 'header' | 'left'> {
  params: Params;
  query: Query;
  body: Body;
  /** The caller's first language, as `Accept-Language` says. */
  locale: string | undefined;
}

export interface RouteRequest<Params, Query, Body> extends PublicRequest<Params, Query, Body> {
  caller: SignedInCaller;
}

export type ResponseMedia =
  | 'application/json'
  | 'text/event-stream'
  | 'application/jsonl'
  | 'text/markdown';

/** Where a route is served (`chat-routes.ts`). */
export interface Address {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** AIP form, e.g. `/v1/conversations/{conversationId}:compact`. */
  path: string;
  /** Other paths to the same. */
  aliases?: readonly string[];
}

interface Description {
  /** Names the operation in logs. */
  operation: string;
  summary: string;
  /** The JSON of success; `noBody` where there is none. */
  response: z.ZodType;
  /** It erases or hands out much at once: checked harder where the deployment says so (`admit`). */
  isSensitive?: true;
  /** What an unusable path parameter is: an id that cannot exist (default), or a bad argument. */
  badParams?: 'notFound' | 'badArgument';
  /**
   * Which protocol its bodies and errors speak; default `aip`: ours, with AIP-193 errors. The others belong
   * to façades: what the OpenAPI document says of their errors and streams follows from it.
   */
  format?: 'aip' | 'openai' | 'callable' | 'ai-sdk';
  /** In which forms success comes; default JSON, or events where `response` is `streamResponse`. */
  media?: readonly ResponseMedia[];
  /** Headers of the request that change the answer, beside those of every route: name and what it does, and its words where it has few. */
  requestHeaders?: Readonly<Record<string, string | DescribedHeader>>;
  /** Headers of success, beside those of every route: name and what it says. */
  responseHeaders?: Readonly<Record<string, string>>;
  /** Reasons of errors that do not follow from the rest of the declaration (see error-reasons.ts). */
  errors?: readonly ErrorReasonName[];
  /** A body that a client may send, for the reference. */
  example?: unknown;
}

/** Everything that is said about a route but where it is served: validation, logs, the OpenAPI document and tests read it. */
interface Declaration<Params, Query, Body> extends Description {
  /** Default: the path has none. */
  params?: z.ZodType<Params>;
  /** Default: none are taken. */
  query?: z.ZodType<Query>;
  /** Default: a GET takes none, and the others nothing or `{}`. */
  body?: z.ZodType<Body>;
  /** Codes of success, the usual one first. Default: 200. */
  statuses?: readonly number[];
}

interface UserDeclaration<Params, Query, Body> extends Declaration<Params, Query, Body> {
  handle(
    dependencies: RouteDependencies,
    request: RouteRequest<Params, Query, Body>,
  ): Reply | Promise<Reply>;
}

interface PublicDeclaration<Params, Query, Body> extends Declaration<Params, Query, Body> {
  handle(
    dependencies: RouteDependencies,
    request: PublicRequest<Params, Query, Body>,
  ): Reply | Promise<Reply>;
}

/** A route with its types closed: what the router and the tests see. */
export interface Route extends Description, Address {
  params: z.ZodType;
  query: z.ZodType;
  body: z.ZodType;
  statuses: readonly number[];
  access: 'user' | 'public';
  run: (dependencies: RouteDependencies, request: RawRequest) => Promise<Reply>;
}

export interface DeclaredRoute {
  /** The route as it is served at an address. */
  at: (address: Address) => Route;
}

export const noBody = z.undefined();

const nothing = z.strictObject({});

/** What ids of paths look like that are no UUIDs of the app alone. */
const idForms: Readonly<Record<string, string>> = {
  turnId: 'A turnId looks like t_7; the header x-turn-id of an answer has it.',
  messageId: 'A messageId is a UUID, or m_7 for an answer.',
};

function readParams(
  { params, badParams }: Pick<Route, 'params' | 'badParams'>,
  raw: Record<string, string>,
): unknown {
  if (badParams === 'badArgument') return parseRequest(params, raw);
  const parsed = params.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0]);
  if (field === 'conversationId') throw notFoundError();
  throw new AppError({
    reason: 'NOT_FOUND',
    publicMessage: `There is nothing under this ${field}. ${idForms[field] ?? 'Check it.'}`,
    metadata: { field },
  });
}

/** A declaration with what it left out, at its address. */
const described = (declaration: Declaration<unknown, unknown, unknown>, address: Address) => ({
  params: nothing,
  query: nothing,
  body: address.method === 'GET' ? noBody : nothing,
  statuses: [200],
  ...declaration,
  ...address,
});

const readRequest = (
  route: Pick<Route, 'params' | 'badParams' | 'query' | 'body'>,
  raw: RawRequest,
): PublicRequest<unknown, unknown, unknown> => ({
  ...raw,
  params: readParams(route, raw.params),
  query: parseRequest(route.query, raw.query),
  body: parseRequest(route.body, raw.body),
  locale: preferredLocale(raw.header('accept-language')),
});

// iOS writes UUIDs in capitals.
const withLowerUuids = (params: RawRequest['params']) =>
  Object.fromEntries(Object.entries(params).map(([name, id]) => [name, toLowerUuid(id)]));

/**
 * Declares a route of a signed-in user; `handle` gets what the schemas made of the request. Its errors
 * are AppErrors: BAD_FIELD, BAD_PART, and for malformed ids the same 404 as for unknown ones.
 */
export function userRoute<Params, Query, Body>(
  declaration: UserDeclaration<Params, Query, Body>,
): DeclaredRoute {
  const erased: UserDeclaration<unknown, unknown, unknown> = declaration;
  return {
    at: (address) => {
      const route = described(erased, address);
      const run: Route['run'] = async (dependencies, raw) => {
        const { caller, params } = raw;
        if (!caller) throw new Error(`${route.operation} was reached without a caller`);
        const request = readRequest(route, { ...raw, params: withLowerUuids(params) });
        return erased.handle(dependencies, { ...request, caller });
      };
      return { ...route, access: 'user', run };
    },
  };
}

/** The same without a sign-in: `handle` itself decides who may. */
export function publicRoute<Params, Query, Body>(
  declaration: PublicDeclaration<Params, Query, Body>,
): DeclaredRoute {
  const erased: PublicDeclaration<unknown, unknown, unknown> = declaration;
  return {
    at: (address) => {
      const route = described(erased, address);
      const run: Route['run'] = async (dependencies, raw) =>
        erased.handle(dependencies, readRequest(route, raw));
      return { ...route, access: 'public', run };
    },
  };
}

/** Why a message with uploads may be refused, beside what refuses any message. */
export const UPLOAD_ERRORS = [
  'UPLOADS_OFF',
  'UPLOAD_NOT_FOUND',
  'UPLOAD_TYPE_MISMATCH',
  'FILES_TOO_LARGE',
  'FILES_UNAVAILABLE',
] as const;

/* What several routes say of the same header, for their declarations. */

export const LANGUAGE_HEADER = {
  'Accept-Language': 'The language of the sentences for people.',
};

export const IF_MATCH_HEADER = {
  'If-Match':
    'The ETag of the conversation as it was read, or `"g3"` for generation 3 in any state; 412 when it is another.',
};

/** Of a request that a model answers, as a stream or as one JSON. */
export const ANSWER_HEADERS = {
  Accept: '`text/event-stream` streams the answer; else one JSON comes at its end.',
  'Accept-Language': 'Where `locale` is left out: the language of the sentences for people.',
};

/** Of the reply to it. */
export const TURN_HEADER = { 'X-Turn-Id': 'The turn that answers.' };
