import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { encodeHistory, type History } from '../../shared/conversation/history.ts';
import type { CompactionRecord } from '../../shared/conversation/job.ts';
import { compactionJobPath, headPath, historyPath } from '../../shared/conversation/paths.ts';
import { AppError } from '../../shared/errors.ts';
import {
  compactionListResponse,
  compactionRecordResponse,
  compactionJobResponse,
  compactionPreviewResponse,
  conversationResponse,
} from '../../shared/wire/responses.ts';
import { buildConversation } from '../support/conversation-builder.ts';
import { errorOf, startChatServer, type ChatServer } from '../support/chat-server.ts';

let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.stop());

async function create(server = chat): Promise<string> {
  const response = await server.call('/v1/conversations', { body: {} });
  return conversationResponse.parse(await response.json()).id;
}

const compact = (id: string, body: object = {}, verb = 'compact') =>
  chat.call(`/v1/conversations/${id}:${verb}`, { body });

async function readAs<T>(schema: z.ZodType<T>, response: Response): Promise<T> {
  const json: unknown = await response.json();
  const read = schema.parse(json);
  expect(json).toEqual(read);
  return read;
}

const publishedFor = (id: string) =>
  chat.dependencies.published.filter(({ data }) => JSON.stringify(data).includes(id));

const needOf = async (id: string) => {
  const [document] = await chat.dependencies.store.get([headPath(id)]);
  return document?.fields['compactionNeeded'];
};

const record = (at: number, changes: Partial<CompactionRecord> = {}): CompactionRecord => ({
  requestId: randomUUID(),
  state: 'NOOP',
  trigger: 'auto',
  requestedAt: new Date(at),
  finishedAt: new Date(at),
  beforeTokens: 100,
  afterTokens: 100,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 1,
  reason: 'BELOW_THRESHOLD',
  ...changes,
});

const writeJob = (
  id: string,
  job: { owner?: string; requestId?: string; leaseUntil?: Date; records?: CompactionRecord[] },
) =>
  chat.dependencies.store.commit([
    {
      op: 'create',
      path: compactionJobPath(id),
      fields: {
        schemaVersion: 1,
        owner: '',
        leaseUntil: new Date(0),
        fence: 1,
        requestId: '',
        step: '',
        failures: 0,
        breakerOpenUntil: null,
        attempts: 0,
        retryAt: null,
        ...job,
        records: (job.records ?? []).map((each) => ({ ...each })),
      },
    },
  ]);

const history = (generation: number, at: number): History => ({
  schemaVersion: 1,
  generation,
  parent: generation - 1,
  state: 'COMPACTED',
  strategy: 'rewrite',
  trigger: 'manual',
  requestId: randomUUID(),
  coveredThrough: { seq: generation, contentIndex: 0 },
  from: generation,
  turnsFolded: 1,
  beforeTokens: 1_234,
  afterTokens: 567,
  snapshotTokens: 10,
  boundary: 'b',
  snapshotText: 'text',
  sourceHash: 'h',
  model: 'm',
  promptVersion: '1',
  modelCalls: 2,
  usage: { promptTokens: 5, outputTokens: 6 },
  requestedAt: new Date(at - 10),
  createTime: new Date(at),
  durationMs: 10,
  by: 'w',
  sections: {},
  masks: [],
  report: { checks: 3 },
});

async function writeHistories(id: string, histories: readonly History[]) {
  await chat.dependencies.store.commit([
    ...histories.map((each) => ({
      op: 'create' as const,
      path: historyPath(id, each.generation),
      fields: encodeHistory(each),
    })),
    {
      op: 'update' as const,
      path: headPath(id),
      fields: { generation: histories.length },
      guard: { exists: true as const },
    },
  ]);
}

describe('asking for a compaction', () => {
  test.each(['compact', 'compress', 'summarize'])(
    ':%s notes the need and tells the workers',
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

  test('needs no body', async () => {
    const id = await create();

    const response = await chat.call(`/v1/conversations/${id}:compact`, { method: 'POST' });

    expect(response.status).toBe(202);
  });

  test('as a dry run tells what would be folded, and asks for nothing', async () => {
    const { conversationId } = await buildConversation(chat.dependencies.store, {
      turns: 20,
      head: { ownerUid: 'alice' },
    });

    const response = await compact(conversationId, { dryRun: true });

    expect(response.status).toBe(200);
    const preview = await readAs(compactionPreviewResponse, response);
    expect(preview).toMatchObject({ state: 'WOULD_COMPACT', from: 1, upTo: 15, turnsFolded: 15 });
    expect(await needOf(conversationId)).toEqual({});
    expect(publishedFor(conversationId)).toEqual([]);
  });

  test('as a dry run of an empty conversation says that there is nothing to fold', async () => {
    const response = await compact(await create(), { dryRun: true });

    const preview = await readAs(compactionPreviewResponse, response);
    expect(preview).toMatchObject({ state: 'NOOP', reason: 'NOTHING_TO_FOLD', turnsFolded: 0 });
  });

  test('as a dry run of a turn that no summariser window holds fails as the run itself would', async () => {
    const { conversationId } = await buildConversation(chat.dependencies.store, {
      turns: [{ answer: 'word '.repeat(8_000) }, { answer: 'word '.repeat(8_000) }],
      head: { ownerUid: 'alice', settings: { windowTokens: 8_000 } },
    });

    const preview = await readAs(
      compactionPreviewResponse,
      await compact(conversationId, { dryRun: true }),
    );

    expect(preview).toMatchObject({
      state: 'FAILED_ERROR',
      reason: 'TURN_TOO_LARGE',
      turnsFolded: 0,
    });
  });

  test('20 times at once gives one 202 and 19 conflicts', async () => {
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

  test('again with the same request id is the same job', async () => {
    const id = await create();
    const requestId = randomUUID();

    const first = await compact(id, { requestId });
    const second = await compact(id, { requestId });

    expect([first.status, second.status]).toEqual([202, 202]);
    expect(await second.json()).toEqual({ jobId: requestId, state: 'QUEUED' });
  });

  test('with the id of a request that has ended tells how it ended', async () => {
    const id = await create();
    const ended = record(1_000, { state: 'COMPACTED' });
    await writeJob(id, { records: [ended] });

    const response = await compact(id, { requestId: ended.requestId });

    expect(await response.json()).toEqual({ jobId: ended.requestId, state: 'COMPACTED' });
    expect(await needOf(id)).toEqual({});
  });

  test('while a worker holds the conversation is a conflict, and no longer when its lease is over', async () => {
    const [held, free] = await Promise.all([create(), create()]);
    const lease = { owner: 'w1', requestId: randomUUID() };
    await writeJob(held, { ...lease, leaseUntil: new Date(Date.now() + 60_000) });
    await writeJob(free, { ...lease, leaseUntil: new Date(Date.now() - 1) });

    expect(await errorOf(await compact(held))).toMatchObject({ reason: 'COMPACTION_RUNNING' });
    expect((await compact(free)).status).toBe(202);
  });

  test('survives a bus that is down: the need stays and the failure is logged', async () => {
    const down = new AppError({
      status: 'UNAVAILABLE',
      reason: 'PUBLISH_FAILED',
      message: 'down',
      publicMessage: 'Down.',
      retryable: true,
    });
    const server = await startChatServer({
      overrides: { publisher: { publish: () => Promise.reject(down) } },
    });
    const id = await create(server);

    const response = await server.call(`/v1/conversations/${id}:compact`, { body: {} });

    expect(response.status).toBe(202);
    const [document] = await server.dependencies.store.get([headPath(id)]);
    expect(document?.fields['compactionNeeded']).toHaveProperty('manual');
    expect(server.logs.map(({ event }) => event)).toContain('compaction_publish_failed');
    await server.stop();
  });

  test.each([
    ['a request id that is no UUID', { requestId: 'x' }, '`requestId`'],
    ['an empty focus', { focus: '' }, '`focus`'],
    ['a focus that is too long', { focus: 'x'.repeat(1_001) }, '1000'],
    ['an unknown field', { force: true }, '`force`'],
  ])('with %s is refused', async (_, body, named) => {
    const error = await errorOf(await compact(await create(), body));

    expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
    expect(error.message).toContain(named);
  });
});

describe('the list of compactions', () => {
  const list = async (id: string, query = '', headers: Record<string, string> = {}) =>
    readAs(
      compactionListResponse,
      await chat.call(`/v1/conversations/${id}/compactions${query}`, { headers }),
    );

  test('shows generations and attempts that changed nothing, newest first, page by page', async () => {
    const id = await create();
    const histories = [history(1, 10_000), history(2, 20_000), history(3, 30_000)];
    const attempts = [record(5_000), record(15_000), record(35_000)];
    const swapped = record(30_000, { state: 'COMPACTED', generation: 3 });
    await writeHistories(id, histories);
    await writeJob(id, { records: [...attempts, swapped] });

    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = await list(id, `?pageSize=2${token === undefined ? '' : `&pageToken=${token}`}`);
      seen.push(...page.compactions.map(({ jobId }) => jobId));
      token = page.nextPageToken;
    } while (token !== undefined);

    expect(seen).toEqual(
      [attempts[2], histories[2], histories[1], attempts[1], histories[0], attempts[0]].map(
        (each) => each?.requestId,
      ),
    );
  });

  test('is empty for a new conversation', async () => {
    expect(await list(await create())).toEqual({ compactions: [] });
  });

  test('speaks the caller’s language', async () => {
    const id = await create();
    await writeHistories(id, [history(1, 10_000)]);

    const [english, korean] = await Promise.all([
      list(id),
      list(id, '', { 'accept-language': 'ko-KR,ko;q=0.9' }),
    ]);

    expect(english.compactions[0]?.message).toContain('1,234');
    expect(korean.compactions[0]?.message).toMatch(/[가-힣]/);
  });

  test('gives one by its generation, and 404 for one that is not there', async () => {
    const id = await create();
    await writeHistories(id, [history(1, 10_000)]);

    const one = await readAs(
      compactionRecordResponse,
      await chat.call(`/v1/conversations/${id}/compactions/1`),
    );
    const none = await chat.call(`/v1/conversations/${id}/compactions/2`);

    expect(one).toMatchObject({ generation: 1, from: 1, upTo: 1, calls: 2, report: { checks: 3 } });
    expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'GENERATION_NOT_FOUND' });
  });
});
