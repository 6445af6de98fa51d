import { createChatApp } from '#functions/chat/chat-app.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { decodeJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { createUploadResponse } from '#shared/wire/resources/uploads.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { storeNotes } from '../notes.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { randomUUID } from 'node:crypto';

interface WireRequest {
  method: string;
  /** With its query. */
  path: string;
  /** Whose token it carries; undefined: none. */
  uid: string | undefined;
  headers?: Record<string, string>;
  /** As it is sent. */
  body?: string | undefined;
}

export interface WireAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The router in this process, without a socket: what the function answers, to the last byte of a stream. */
export interface WireApp {
  dependencies: ReturnType<typeof chatDependencies>;
  call(request: WireRequest): Promise<WireAnswer>;
  /** The same with a JSON body; throws for an answer that is no success. */
  ok(request: { method: string; path: string; uid: string; body?: unknown }): Promise<unknown>;
}

/** A token in these tests names its user: `Bearer alice`. */
const idTokens: ChatDependencies['idTokens'] = {
  verify: (token) => Promise.resolve({ uid: token, tier: 'signedIn', signedInAt: new Date(0) }),
};

/** The chat API on the embedded store, where a bearer token is the name of its user unless replaced. */
export function createWireApp(
  overrides: Partial<ChatDependencies> = {},
  environment: Record<string, string> = {},
): WireApp {
  const dependencies = chatDependencies(
    { idTokens, files: createMemoryBucket(), ...overrides },
    environment,
  );
  const app = createChatApp({ ...dependencies, sendMessage, heartbeatMs: 8_000 });
  const call: WireApp['call'] = async ({ method, path, uid, headers, body }) => {
    const work: Promise<unknown>[] = [];
    const request = new Request(`http://recap.test${path}`, {
      method,
      headers: {
        ...(uid !== undefined && { authorization: `Bearer ${uid}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const response = await app.fetch(request, {
      work,
      breakOff: () => {
        throw new Error('a transfer broke off');
      },
      left: new AbortController().signal,
    });
    const text = await response.text();
    await Promise.allSettled(work);
    return { status: response.status, headers: response.headers, text };
  };
  return {
    dependencies,
    call,
    ok: async ({ body, ...request }) => {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const answer = await call({ ...request, body: sent });
      if (answer.status >= 300) throw new Error(`${request.path}: ${answer.text}`);
      return answer.text === '' ? undefined : JSON.parse(answer.text);
    },
  };
}

/** Ids of what a user has, by the name of the path parameter that takes each. */
export type Resources = Readonly<Record<string, string>>;

/**
 * Gives a user one of everything: a compacted conversation with a message sent over the wire, a pin, a device,
 * a note and an upload, each holding `canary`. Returns the ids by the names of path parameters.
 */
export async function createResources(
  app: WireApp,
  { uid, canary }: { uid: string; canary: string },
): Promise<Resources> {
  const bench = compactionBench({ store: app.dependencies.store });
  const conversationId = await buildDue(bench, { conversation: { ownerUid: uid, title: canary } });
  await compactOnce(bench, conversationId);
  const [job] = await app.dependencies.store.get([compactionJobPath(conversationId)]);
  const jobId = job && decodeJob(job).value.records.at(-1)?.requestId;
  const messageId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const parts = [{ type: 'text', text: canary }];
  const message = { message: { id: messageId, parts } };
  await app.ok({ method: 'POST', path: `${path}/messages`, uid, body: message });
  await app.ok({ method: 'PUT', path: `${path}/pins/pin-1`, uid, body: { text: canary } });
  await app.ok({
    method: 'PUT',
    path: '/v1/users/me/devices/device-1',
    uid,
    body: { token: `${canary}-token-${messageId}`, platform: 'ios' },
  });
  // In the place of all others: whoever makes requests at random may have filled the list.
  const savedAt = new Date('2026-01-02T03:04:05.000Z');
  await storeNotes(app.dependencies.store, uid, [
    { id: 'memory-1', text: canary, source: 'user', savedAt, revision: 1 },
  ]);
  const file = { mimeType: 'text/plain', sizeBytes: 5, name: `${canary}.txt` };
  const upload = await app.ok({ method: 'POST', path: '/v1/uploads', uid, body: file });
  return {
    uploadId: createUploadResponse.parse(upload).uploadId,
    conversationId,
    chatId: conversationId,
    messageId,
    answerId: 'm_21',
    turnId: 't_21',
    responseId: `resp_${conversationId}_t_20`,
    generation: '1',
    pinId: 'pin-1',
    jobId: jobId ?? 'request-1',
    deviceId: 'device-1',
    memoryId: 'memory-1',
    completionId: `chatcmpl-${conversationId}-t_20`,
    model: app.dependencies.config.MODEL,
    reason: 'USER_RPM',
  };
}

/** What a call needs in its query so that its answer ends: a stream of events tells what there is, and no more. */
export const endingQuery = (path: string): string =>
  path === '/v1/users/me/events' ? `once=true&cursor=${Date.now()}_0.0_` : '';
