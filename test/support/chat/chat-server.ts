import type { RouteDependencies } from '#functions/chat/route.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import {
  createAppCheckVerifier,
  createIdTokenVerifier,
  createServiceTokenVerifier,
} from '#functions/adapters/tokens.ts';
import { createChatHandler } from '#functions/chat/handler.ts';
import { guardServer } from '#functions/lib/guard-server.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { idTokenClaims, startTokenKeys, type TokenKeys } from '#test/support/token-keys.ts';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { expect, onTestFinished } from 'vitest';
import type { z } from 'zod';

// As in a deployed function. The first domain of the framework would slow every promise of all tests of this thread.
disableNodeDomains();

interface LogLine {
  severity: string;
  event: string;
  fields: LogFields;
}

export interface ChatServer {
  url: string;
  server: Server;
  project: string;
  keys: TokenKeys;
  dependencies: ChatDependencies & ReturnType<typeof chatDependencies>;
  logs: LogLine[];
  /** A request as a user; the path begins with `/v1`. `body` is sent as JSON, a string as it is. */
  call(path: string, options?: CallOptions): Promise<Response>;
  stop(): Promise<void>;
}

export interface CallOptions {
  method?: string;
  /** Default `alice`; null sends no token. */
  uid?: string | null;
  /** In place of a good token of `uid`. */
  token?: string;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

export interface ChatServerOptions {
  overrides?: Partial<ChatDependencies>;
  environment?: Record<string, string>;
  collaborators?: Partial<Pick<RouteDependencies, 'sendMessage' | 'heartbeatMs'>>;
  /** Whether the framework's body parsers are kept away from the start; default true. */
  isGuarded?: boolean;
}

/** A request with a token, or without one. */
export function fetchAs(
  url: string,
  { body, method = body === undefined ? 'GET' : 'POST', headers, signal }: CallOptions,
  token: string | undefined,
): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

/** The chat function under the functions framework, with signed tokens, on a free port. */
export async function startChatServer(options: ChatServerOptions = {}): Promise<ChatServer> {
  const { overrides = {}, environment = {}, collaborators = {}, isGuarded = true } = options;
  const keys = await startTokenKeys();
  const project = `recap-${randomUUID().slice(0, 8)}`;
  const logs: LogLine[] = [];
  const settings = {
    GOOGLE_CLOUD_PROJECT: project,
    ID_TOKEN_KEYS_URL: keys.url,
    APP_CHECK_KEYS_URL: keys.url,
    PUSH_TOKEN_KEYS_URL: keys.url,
    // Tests count the calls of the model.
    TITLES: 'off',
    // Attacks make more calls in a minute than a user does.
    USER_CALLS_AT_ONCE: '0',
    USER_CALLS_PER_MINUTE: '0',
    ...environment,
  };
  const { config } = chatDependencies({}, settings);
  const dependencies = chatDependencies(
    {
      idTokens: createIdTokenVerifier(config),
      serviceTokens: createServiceTokenVerifier(config),
      appCheck: createAppCheckVerifier(config),
      logger: { log: (severity, event, fields) => void logs.push({ severity, event, fields }) },
      ...overrides,
    },
    settings,
  );
  const target = `chat-${randomUUID()}`;
  http(target, createChatHandler(dependencies, collaborators));
  const server = getTestServer(target);
  if (isGuarded) guardServer(server);
  const { url, close } = await openServer(server);
  const tokenOf = async ({ uid = 'alice', token }: CallOptions) =>
    token ?? (uid === null ? undefined : await keys.sign(idTokenClaims(project, uid)));
  return {
    url,
    server,
    project,
    keys,
    dependencies,
    logs,
    call: async (path, call = {}) => fetchAs(`${url}${path}`, call, await tokenOf(call)),
    stop: async () => {
      await Promise.all([close(), keys.close()]);
    },
  };
}

/** The same, stopped with the test that starts it. */
export async function serveForTest(options?: ChatServerOptions): Promise<ChatServer> {
  const server = await startChatServer(options);
  onTestFinished(() => server.stop());
  return server;
}

/** The parts of an AIP-193 answer that tests look at. */
export async function errorOf(response: Response) {
  const text = await response.text();
  const { error } = JSON.parse(text);
  return {
    http: response.status,
    type: response.headers.get('content-type'),
    code: error.code,
    status: error.status,
    message: error.message,
    reason: error.details[0].reason,
    metadata: error.details[0].metadata,
    text,
  };
}

/** The JSON of an answer, held to its schema: nothing missing, nothing that is not described. */
export async function readAs<T>(schema: z.ZodType<T>, response: Response): Promise<T> {
  const json: unknown = await response.json();
  const read = schema.parse(json);
  expect(json).toEqual(read);
  return read;
}

/** A new conversation; without `options` an empty one of alice. */
export async function createConversation(server: ChatServer, options: CallOptions = {}) {
  const response = await server.call('/v1/conversations', { body: {}, ...options });
  return readAs(conversationResponse, response);
}

/** No HTML, no stack, an AIP-193 body whose code is that of HTTP. */
export function expectClean(error: Awaited<ReturnType<typeof errorOf>>) {
  expect(error.type).toContain('application/json');
  expect(error.code).toBe(error.http);
  expect(error.text).not.toMatch(/<html|node_modules|\bat .*\.(js|ts):\d+/i);
}
