import { badField, AppError } from '#shared/lib/errors.ts';
import type { RouteDependencies, Reply, Route, TextReply } from './route.ts';
import { stackFrames, failureReason } from '../lib/failure-reason.ts';
import { refreshRemote } from '#functions/config/remote-documents.ts';
import { readTrace, withTrace } from '../lib/trace.ts';
import type { SignedInCaller, Logger } from '#shared/ports/ports.ts';
import { servedRoutes } from './chat-routes.ts';
import { admit, authenticate, refuseNamedUser } from './http/authenticate.ts';
import {
  createCallLimit,
  withinCallLimit,
  type CallLimit,
  withStreamPlace,
} from './http/call-limit.ts';
import { cors } from './http/cors.ts';
import {
  requestedDocsUrl,
  errorResponse,
  answerNoRoute,
  methodNotAllowed,
  refused,
} from './http/error-response.ts';
import { COMMON_HEADERS } from './http/headers.ts';
import { readJsonBody } from './http/read-body.ts';
import { toBody } from './http/sent-text.ts';
import { errorForCaller } from './not-found.ts';
import { Hono, type Context } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { conversationIdSchema } from '#shared/wire/fields.ts';

/** Where an unexpected error came from. Its message stays out: it may quote what the user sent. */
function defectFields(error: unknown): { error: string; stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const stack = stackFrames(error);
  return { error: error.name, ...(stack !== '' && { stack }) };
}

/** Names of what lies behind an error, outermost first. */
function causeNames(error: unknown): string {
  const names: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  for (; cause instanceof Error && names.length < 4; cause = cause.cause) names.push(cause.name);
  return names.join(' < ');
}

interface ServedRequest {
  operation: string;
  method: string;
  status: number;
  durationMs: number;
  requestId: string;
  /** Hashed. */
  uidHash?: string | undefined;
  /** The service account that called, for the user of `uidHash`: the trail of what servers did. */
  account?: string | undefined;
  /** What it was about; of servers alone. */
  conversationId?: string | undefined;
  /** What the request ended with, if not with success. */
  error?: unknown;
}

/** One line for every request; errors from 500 on with what is needed to find them. */
export function logRequest(logger: Logger, served: ServedRequest): void {
  const { error, ...fields } = served;
  const isOurs = served.status >= 500;
  logger.log(isOurs ? 'ERROR' : 'INFO', 'request', {
    ...fields,
    ...(error instanceof AppError && {
      reason: error.reason,
      ...(isOurs && { detail: error.message, causes: causeNames(error) }),
    }),
    ...(error !== undefined && !(error instanceof AppError) && defectFields(error)),
  });
}

/** What the log tells of a server: which it was, and the conversation, where the address names one. */
function serverFields(
  caller: SignedInCaller | undefined,
  error: unknown,
  params: Readonly<Record<string, string>>,
): Pick<ServedRequest, 'account' | 'conversationId'> {
  const refusedAccount = error instanceof AppError ? error.metadata['account'] : undefined;
  const account = caller?.actor ?? refusedAccount;
  const { data: conversationId } = conversationIdSchema.safeParse(params['conversationId']);
  return account === undefined ? {} : { account, conversationId };
}

/** Custom verbs follow a colon (AIP-136), so a plain segment holds none. */
const PARAMETER = /\{(\w+)\}(:\w+)?/g;

/**
 * A declared path in the router's syntax: `/v1/conversations/{c}:compact` becomes
 * `/v1/conversations/:c{[^:/]+:compact}`.
 */
export const routerPath = (path: string) =>
  path.replace(
    PARAMETER,
    (_, name: string, verb: string | undefined) => `:${name}{[^:/]+${verb ?? ''}}`,
  );

/** The parameters as the router found them, without the verb of the declared path. */
function withoutVerb(
  params: Readonly<Record<string, string>>,
  path: string,
): Record<string, string> {
  const verb = /\}(:\w+)$/.exec(path)?.[1] ?? '';
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      verb !== '' && value.endsWith(verb) ? value.slice(0, -verb.length) : value,
    ]),
  );
}

/** What the server hands in beside the request. */
interface ChatBindings {
  /** Promises that must settle before the request counts as served. */
  work: Promise<unknown>[];
  /** Breaks the transfer of the response off, so that no client takes a part for the whole. */
  breakOff: () => void;
  /** Fires when the connection of the response is closed. */
  left: AbortSignal;
}

type ChatContext = Context<{ Bindings: ChatBindings }>;

/** Enough to tell users apart in logs, too little to look one up. */
const UID_HASH_CHARACTERS = 16;

/** Query parameters by name. Throws BAD_FIELD for one that comes twice. */
function readQuery(context: ChatContext): Record<string, string> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => {
      const [value = '', ...rest] = values;
      if (rest.length > 0)
        throw badField(
          name.slice(0, 64),
          `\`${name.slice(0, 64)}\` is given more than once. Give it once.`,
        );
      return [name, value];
    }),
  );
}

/** Why a text broke off whose headers had been sent. */
const logBroken = (
  { logger }: RouteDependencies,
  { reply, requestId }: { reply: TextReply; requestId: string },
  error: unknown,
): void =>
  logger.log('WARNING', reply.brokenEvent, {
    requestId,
    reason: failureReason(error),
  });

function toResponse(
  dependencies: RouteDependencies,
  context: ChatContext,
  { reply, requestId }: { reply: Reply; requestId: string },
): Response {
  const { work, breakOff } = context.env;
  switch (reply.kind) {
    case 'json':
      return Response.json(reply.body, {
        status: reply.status ?? 200,
        headers: { ...COMMON_HEADERS, ...reply.headers },
      });
    case 'empty':
      return new Response(null, {
        status: reply.status,
        headers: { ...COMMON_HEADERS, ...reply.headers },
      });
    case 'text':
      return new Response(
        toBody({
          pieces: () => reply.text,
          onBroken: (error) => {
            logBroken(dependencies, { reply, requestId }, error);
            breakOff();
          },
        }),
        { headers: { ...COMMON_HEADERS, ...reply.headers } },
      );
    case 'stream': {
      work.push(reply.work);
      const takeOn = (more: Promise<unknown>) => void work.push(more);
      return new Response(
        toBody({ pieces: (left) => reply.text({ left, takeOn }), onBroken: breakOff }),
        { headers: { ...COMMON_HEADERS, ...reply.headers } },
      );
    }
  }
}

interface Served {
  response: Response;
  /** Of the address. */
  params?: Readonly<Record<string, string>>;
  /** For the log, where the response has another one. */
  status?: number;
  caller?: SignedInCaller | undefined;
  error?: unknown;
}

/** Authentication first: a body of nobody is not even read. */
async function run(
  dependencies: RouteDependencies,
  context: ChatContext,
  request: { route: Route; path: string; requestId: string; callLimit: CallLimit },
): Promise<Served> {
  const { route, path, requestId, callLimit } = request;
  const header = (name: string) => context.req.header(name);
  const params = withoutVerb(context.req.param(), path);
  let caller: SignedInCaller | undefined;
  try {
    if (route.access === 'user') {
      caller = await authenticate(dependencies, header);
      await admit(dependencies, { route, caller, header });
    }
    if (caller) await refreshRemote(dependencies.config);
    const { left } = context.env;
    const reply = await withinCallLimit(callLimit, { uid: caller?.uid, left }, async () => {
      const hasBody = route.method !== 'GET';
      const raw = {
        params,
        query: readQuery(context),
        body: refuseNamedUser(
          hasBody ? await readJsonBody(context.req.raw, dependencies) : undefined,
          caller,
        ),
        header,
        caller,
        left,
      };
      const place = { route, caller, accept: header('accept') };
      return withStreamPlace(dependencies, place, () => route.run(dependencies, raw));
    });
    return { response: toResponse(dependencies, context, { reply, requestId }), caller, params };
  } catch (error) {
    const told = errorForCaller(error, caller);
    const { docsUrl: docs } = dependencies;
    return {
      ...errorResponse(told, { ...route, docsUrl: docs, accept: header('accept') }),
      caller,
      params,
      error,
    };
  }
}

/** A preflight of a listed origin never comes as far as the routes. */
const isUnlistedPreflight = ({ req }: ChatContext) =>
  req.method === 'OPTIONS' && req.header('access-control-request-method') !== undefined;

interface Target {
  operation: string;
  answer: (dependencies: RouteDependencies, requestId: string) => Served | Promise<Served>;
}

/** Serves one request and logs it, both under the trace that it belongs to; never throws. */
async function serve(
  untraced: RouteDependencies,
  context: ChatContext,
  target: Target,
): Promise<Response> {
  const dependencies = {
    ...withTrace(untraced, readTrace(context.req.header('traceparent'))),
    docsUrl: requestedDocsUrl(untraced.config, context.req),
  };
  const { clock, randomness, logger, sha256 } = dependencies;
  const requestId = randomness.uuid();
  const startedAt = clock.now().getTime();
  const {
    response,
    caller,
    params = {},
    error,
    status,
  } = await target.answer(dependencies, requestId);
  response.headers.set('x-request-id', requestId);
  logRequest(logger, {
    operation: target.operation,
    method: context.req.method,
    status: status ?? response.status,
    durationMs: clock.now().getTime() - startedAt,
    requestId,
    uidHash: caller && sha256(caller.uid).slice(0, UID_HASH_CHARACTERS),
    ...serverFields(caller, error, params),
    error,
  });
  return response;
}

/**
 * The chat API as a router: every declared route, 405 for other methods of their paths, 404 for the rest, in the form of
 * errors that the path's clients read.
 */
export function createChatApp(dependencies: RouteDependencies): Hono<{ Bindings: ChatBindings }> {
  // Some clients encode every path segment, and with it the colon before a verb.
  const app = new Hono<{ Bindings: ChatBindings }>({
    // hono's choice, too, after it has tried to make one expression of paths that do not go into one.
    router: new TrieRouter(),
    getPath: ({ url }) => new URL(url).pathname.replaceAll(/%3A/gi, ':'),
  });
  const { CORS_ORIGINS: origins } = dependencies.config;
  if (origins.length > 0) app.use(cors(origins));
  const callLimit = createCallLimit(dependencies.config, dependencies.clock);
  const methodsByPath = new Map<string, string[]>();
  for (const { method, path, load } of servedRoutes) {
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method]);
    app.on(method, routerPath(path), async (context) => {
      const route = await load();
      return serve(dependencies, context, {
        operation: route.operation,
        answer: (traced, requestId) => run(traced, context, { route, path, requestId, callLimit }),
      });
    });
  }
  for (const [path, methods] of methodsByPath)
    app.all(routerPath(path), (context) =>
      serve(dependencies, context, {
        operation: 'methodNotAllowed',
        answer: (traced) => {
          const isPreflight = isUnlistedPreflight(context);
          const error = methodNotAllowed(methods.join(', '), { isPreflight });
          return refused(path, error, traced);
        },
      }),
    );
  app.notFound((context) =>
    serve(dependencies, context, {
      operation: 'routeNotFound',
      answer: (traced) => answerNoRoute(context.req.path, traced),
    }),
  );
  return app;
}
