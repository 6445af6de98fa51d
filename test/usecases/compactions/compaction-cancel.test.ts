import { spentAfter } from '#shared/compaction/brake.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { cancelledCompactionResponse } from '#shared/wire/resources/compaction.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { record, writeJob } from '#test/support/compaction/past-compactions.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

const create = async () => (await createConversation(chat)).id;

const cancel = (id: string, jobId: string) =>
  chat.call(`/v1/conversations/${id}/compactions/${jobId}:cancel`, { method: 'POST' });

const setRequest = (id: string, compactionRequests: object) =>
  chat.dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(id),
      fields: { compactionRequests: { ...compactionRequests } },
      guard: { exists: true },
    },
  ]);

const hold = (id: string, requestId: string, leaseForMs: number) =>
  writeJob(chat.dependencies.store, id, {
    owner: 'worker',
    requestId,
    fence: 3,
    leaseUntil: new Date(Date.now() + leaseForMs),
  });

describe('cancelling a compaction', () => {
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

  test('cancelling an automatic compaction remembers the size of the context', async () => {
    const id = await create();
    const requestId = randomUUID();
    await setRequest(id, { auto: { requestId, since: new Date(), trigger: 'auto' } });

    await cancel(id, requestId);

    const { conversation } = await see(chat.dependencies.store, id);
    const { tokens } = conversation.context;
    expect(conversation.compactionRequests).toEqual({ declined: { tokens, generation: 0 } });
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

  test('cancelling a finished compaction reports its outcome', async () => {
    const id = await create();
    const ended = record(1_000, { state: 'COMPACTED', generation: 1 });
    await writeJob(chat.dependencies.store, id, { records: [ended] });

    const response = await cancel(id, ended.requestId);

    expect(await response.json()).toEqual({ jobId: ended.requestId, state: 'COMPACTED' });
  });

  test('cancelling an unknown compaction is 404', async () => {
    const response = await cancel(await create(), randomUUID());

    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({ reason: 'COMPACTION_NOT_FOUND' });
  });
});

test('compaction requests over the limit are refused with the retry time', async () => {
  const limited = await startChatServer({ environment: { COMPACTIONS_PER_HOUR: '1' } });
  try {
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
  } finally {
    await limited.stop();
  }
});
