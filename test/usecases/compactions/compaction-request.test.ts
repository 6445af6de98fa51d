import type { DocumentFields } from '#shared/ports/ports.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { spentAfter } from '#shared/compaction/brake.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  compactionJobResponse,
  compactionPreviewResponse,
  cancelledCompactionResponse,
} from '#shared/wire/resources/compaction.ts';
import {
  errorOf,
  serveForTest,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { record, writeJob } from '#test/support/compaction/past-compactions.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

const create = async (server = chat) => (await createConversation(server)).id;

const compact = (id: string, body: object = {}, verb = 'compact') =>
  chat.call(`/v1/conversations/${id}:${verb}`, { body });

const publishedFor = (id: string) =>
  chat.dependencies.published.filter(({ data }) => JSON.stringify(data).includes(id));

const needOf = async (id: string) => {
  const [document] = await chat.dependencies.store.get([conversationPath(id)]);
  return document?.fields['compactionRequests'];
};

test.each(['compact', 'compress', 'summarize'])(
  'requesting a compaction by :%s stores the request and publishes it',
  async (verb) => {
    const id = await create();

    const response = await compact(id, { focus: 'the budget' }, verb);

    expect(response.status).toBe(202);
    const { jobId, state } = await readAs(compactionJobResponse, response);
    expect(state).toBe('QUEUED');
    expect(await needOf(id)).toMatchObject({ manual: { requestId: jobId, focus: 'the budget' } });
    expect(publishedFor(id)).toEqual([
      { topic: 'compaction', data: { schemaVersion: 1, conversationId: id, requestId: jobId } },
    ]);
  },
);

test('a dry-run compaction shows what would be folded and requests nothing', async () => {
  const { conversationId } = await buildConversation(chat.dependencies.store, {
    turns: 20,
    conversation: { ownerUid: 'alice' },
  });

  const response = await compact(conversationId, { dryRun: true });

  expect(response.status).toBe(200);
  const preview = await readAs(compactionPreviewResponse, response);
  expect(preview).toMatchObject({ state: 'WOULD_COMPACT', from: 1, upTo: 17, turnsFolded: 17 });
  expect(await needOf(conversationId)).toEqual({});
  expect(publishedFor(conversationId)).toEqual([]);
});

test('20 simultaneous compaction requests give one 202 and 19 conflicts', async () => {
  const id = await create();

  const responses = await Promise.all(Array.from({ length: 20 }, () => compact(id)));

  const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([202, ...Array.from({ length: 19 }, () => 409)]);
  expect(publishedFor(id)).toHaveLength(1);
  const conflict = responses.find(({ status }) => status === 409);
  expect(conflict?.headers.get('x-should-retry')).toBe('false');
  expect(conflict && (await errorOf(conflict))).toMatchObject({
    status: 'ABORTED',
    reason: 'COMPACTION_RUNNING',
  });
});

test('a compaction request survives an unavailable bus, and the failure is logged', async () => {
  const down = new AppError({
    status: 'UNAVAILABLE',
    reason: 'PUBLISH_FAILED',
    message: 'down',
    publicMessage: 'Down.',
    retryable: true,
  });
  const server = await serveForTest({
    overrides: { publisher: { publish: () => Promise.reject(down) } },
  });
  const id = await create(server);

  const response = await server.call(`/v1/conversations/${id}:compact`, { body: {} });

  expect(response.status).toBe(202);
  const [document] = await server.dependencies.store.get([conversationPath(id)]);
  expect(document?.fields['compactionRequests']).toHaveProperty('manual');
  expect(server.logs.map(({ event }) => event)).toContain('compaction_publish_failed');
});

test.each([
  ['a request id that is no UUID', { requestId: 'x' }, '`requestId`'],
  ['an empty focus', { focus: '' }, '`focus`'],
  ['a focus that is too long', { focus: 'x'.repeat(1_001) }, '1000'],
  ['an unknown field', { force: true }, '`force`'],
])('a compaction request with %s is refused', async (_, body, named) => {
  const error = await errorOf(await compact(await create(), body));

  expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
  expect(error.message).toContain(named);
});

test('requesting a compaction conflicts with a worker’s lease until it expires', async () => {
  const [held, free] = await Promise.all([create(), create()]);
  const lease = { owner: 'w1', requestId: randomUUID() };
  await writeJob(chat.dependencies.store, held, {
    ...lease,
    leaseUntil: new Date(Date.now() + 60_000),
  });
  await writeJob(chat.dependencies.store, free, {
    ...lease,
    leaseUntil: new Date(Date.now() - 1),
  });

  expect(await errorOf(await compact(held))).toMatchObject({ reason: 'COMPACTION_RUNNING' });
  expect((await compact(free)).status).toBe(202);
});

const cancel = (id: string, jobId: string) =>
  chat.call(`/v1/conversations/${id}/compactions/${jobId}:cancel`, { method: 'POST' });

const setRequest = (id: string, compactionRequests: DocumentFields) =>
  setConversation(chat.dependencies, id, { compactionRequests });

const hold = (id: string, requestId: string, leaseForMs: number) =>
  writeJob(chat.dependencies.store, id, {
    owner: 'worker',
    requestId,
    fence: 3,
    leaseUntil: new Date(Date.now() + leaseForMs),
  });

test('cancelling a waiting compaction drops it with a record, once', async () => {
  const id = await create();
  const requestId = randomUUID();
  await chat.call(`/v1/conversations/${id}:compact`, { body: { requestId } });

  const first = await cancel(id, requestId);
  const second = await cancel(id, requestId);

  expect([first.status, second.status]).toEqual([200, 200]);
  const told = await readAs(cancelledCompactionResponse, first);
  expect(told).toEqual({ jobId: requestId, state: 'ABORTED' });
  expect(await second.json()).toEqual(told);
  const { conversation, job } = await see(chat.dependencies.store, id);
  expect(conversation.compactionRequests).toEqual({});
  expect(job?.records).toMatchObject([
    { requestId, state: 'ABORTED', reason: 'CANCELLED_BY_USER' },
  ]);
});

test('cancelling a running compaction leaves its worker a request to stop', async () => {
  const id = await create();
  const requestId = randomUUID();
  await setRequest(id, { manual: { requestId, since: new Date() } });
  await hold(id, requestId, 60_000);

  const response = await cancel(id, requestId);

  expect(await response.json()).toEqual({
    jobId: requestId,
    state: 'RUNNING',
    cancelRequested: true,
  });
  const { conversation } = await see(chat.dependencies.store, id);
  expect(conversation.compactionRequests).toMatchObject({
    cancel: requestId,
    manual: { requestId },
  });
});

test('cancelling takes the job from a silent worker', async () => {
  const id = await create();
  const requestId = randomUUID();
  await setRequest(id, { manual: { requestId, since: new Date() } });
  await hold(id, requestId, -1);

  await cancel(id, requestId);

  const { job } = await see(chat.dependencies.store, id);
  expect(job).toMatchObject({ owner: '', fence: 4, records: [{ state: 'ABORTED' }] });
});

describe('a compaction whose worker is still telling of its outcome', () => {
  /** A conversation whose compaction has ended, and whose request still stands. */
  async function ended() {
    const id = await create();
    const { requestId, ...of } = record(Date.now(), { state: 'COMPACTED', generation: 1 });
    await writeJob(chat.dependencies.store, id, { records: [{ requestId, ...of }] });
    await setRequest(id, { manual: { requestId, since: new Date() } });
    return { id, requestId };
  }

  test('a compaction that has ended is shown so before its request is taken off', async () => {
    const { id, requestId } = await ended();

    const shown = await chat.call(`/v1/conversations/${id}`);
    const repeated = await compact(id, { requestId });
    const cancelled = await cancel(id, requestId);

    const outcome = { jobId: requestId, state: 'COMPACTED' };
    expect(await shown.json()).toMatchObject({ context: { compaction: outcome } });
    expect(await repeated.json()).toEqual(outcome);
    expect(await cancelled.json()).toEqual(outcome);
  });

  test('a compaction that has ended is no obstacle to the next request', async () => {
    const { id } = await ended();

    expect((await compact(id)).status).toBe(202);
  });
});

test('compaction requests over the limit are refused with the retry time', async () => {
  const limited = await serveForTest({ environment: { COMPACTIONS_PER_HOUR: '1' } });
  const { id } = await createConversation(limited);
  const spent = spentAfter(undefined, { at: new Date(Date.now() - 10_000), tokens: 10 });
  await writeJob(limited.dependencies.store, id, { brake: { failures: 0, spent } });

  const response = await limited.call(`/v1/conversations/${id}:compact`, { body: {} });

  expect(response.status).toBe(429);
  expect(await errorOf(response)).toMatchObject({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'COMPACTION_LIMIT',
  });
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(3_500);
});
