import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { conversationPath, statusPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  compactionDetailResponse,
  compactionListResponse,
} from '#shared/wire/resources/compaction.ts';
import { contextObjectResponse } from '#shared/wire/resources/context-object.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { type WireApp, createWireApp } from '#test/support/chat/wire-app.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { item, snapshotWith } from '#test/support/compaction/engine-samples.ts';
import {
  history,
  record,
  writeHistories,
  writeJob,
} from '#test/support/compaction/past-compactions.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

const create = async () => (await createConversation(chat)).id;

describe('the list of compactions', () => {
  const list = async (id: string, query = '', headers: Record<string, string> = {}) =>
    readAs(
      compactionListResponse,
      await chat.call(`/v1/conversations/${id}/compactions${query}`, { headers }),
    );

  test('the compaction list shows generations and unchanged attempts, newest first, in pages', async () => {
    const id = await create();
    const histories = [history(1, 10_000), history(2, 20_000), history(3, 30_000)];
    const attempts = [record(5_000), record(15_000), record(35_000)];
    const swapped = record(30_000, { state: 'COMPACTED', generation: 3 });
    await writeHistories(chat.dependencies.store, id, histories);
    await writeJob(chat.dependencies.store, id, { records: [...attempts, swapped] });

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

  test.each([
    ['en', /[a-z]{4}.*1,234/],
    ['ko-KR,ko;q=0.9', /[가-힣]/],
  ])('the compaction list speaks the caller’s language: %s', async (language, words) => {
    const id = await create();
    await writeHistories(chat.dependencies.store, id, [history(1, 10_000)]);

    const { compactions } = await list(id, '', { 'accept-language': language });

    expect(compactions[0]?.message).toMatch(words);
  });

  test('the compaction list gives one by its generation, and 404 otherwise', async () => {
    const id = await create();
    await writeHistories(chat.dependencies.store, id, [history(1, 10_000)]);

    const one = await readAs(
      compactionDetailResponse,
      await chat.call(`/v1/conversations/${id}/compactions/1`),
    );
    const none = await chat.call(`/v1/conversations/${id}/compactions/2`);

    expect(one).toMatchObject({ generation: 1, from: 1, upTo: 1, calls: 2, report: { checks: 3 } });
    expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'GENERATION_NOT_FOUND' });
  });

  test('a compaction’s details show its snapshot’s statements with their turns', async () => {
    const id = await create();
    const dog = item('i1', 'The dog is Pixel.', { quote: 'Pixel' });
    const boat = item('i2', 'The boat is blue.', { sources: [3, 5] });
    const topic = item('i3', 'Boats', { sources: [3], through: 6, at: '2026-11-21' });
    const rain = { ...item('i0', 'It rained.', { sources: [2] }), section: 'recent_actions' };
    const snapshot = snapshotWith(
      { decisions: [boat], key_knowledge: [dog], timeline: [topic] },
      { archive: [rain] },
    );
    await writeHistories(chat.dependencies.store, id, [{ ...history(1, 10_000), snapshot }]);

    const answer = await chat.call(`/v1/conversations/${id}/compactions/1`);
    const { snapshot: items } = await readAs(compactionDetailResponse, answer);

    expect(items).toEqual([
      { ...dog, section: 'key_knowledge', layer: 'working' },
      { ...boat, section: 'decisions', layer: 'working' },
      { ...topic, section: 'timeline', layer: 'working' },
      { ...rain, layer: 'archive' },
    ]);
  });
});

const uid = 'alice';

/** A store that keeps every state of a conversation's status document. */
function watchedStore() {
  const store = createMemoryDocumentStore();
  const seen: unknown[] = [];
  let watched = '';
  const read = async () => (await store.get([statusPath(watched)]))[0]?.fields;
  const watching: DocumentStore = {
    ...store,
    commit: async (writes) => {
      const committed = await store.commit(writes);
      if (writes.some(({ path }) => path === statusPath(watched))) seen.push(await read());
      return committed;
    },
  };
  return { store: watching, seen, read, watch: (id: string) => (watched = id) };
}

/** Chat and worker over one store, and a conversation whose threshold is exceeded. */
async function world() {
  const status = watchedStore();
  const app = createWireApp({ store: status.store });
  const bench = compactionBench({ store: status.store });
  const id = await buildDue(bench, { conversation: { ownerUid: uid } });
  status.watch(id);
  const call = (method: string, path: string, body?: object) =>
    app.ok({ method, path: `/v1/${conversationPath(id)}${path}`, uid, body });
  return { app, bench, status, id, call };
}

/** What is seen and is not, field by field, what the schema says. */
const strange = (seen: readonly unknown[]) =>
  seen.filter((document) => {
    const { data } = contextObjectResponse.safeParse(document);
    return JSON.stringify(sorted(data)) !== JSON.stringify(sorted(document));
  });

/** The same value with the names of every object in order; a field that is undefined shows. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value instanceof Date) return `a Date: ${value.toISOString()}`;
  if (typeof value !== 'object' || value === null) return value ?? String(value);
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => [name, sorted(field)]);
}

const message = (text: string) => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

const statesOf = (seen: readonly unknown[]) =>
  seen.map((document) => contextObjectResponse.parse(document).compaction?.state);

test('the status document has exactly what its schema says through every change', async () => {
  const { bench, status, id, call } = await world();

  await call('POST', '/messages', message('Hello'));
  await compactOnce(bench, id);
  await call('POST', '/messages/m_21:regenerate', {});
  const edited = message('Hello again');
  await call('POST', '/messages', edited);
  await call('POST', `/messages/${edited.message.id}:edit`, message('Hello once more'));
  await call('POST', ':restore', { generation: 1 });
  await call('POST', ':compact', {});
  const { compaction } = contextObjectResponse.parse(await status.read());
  await call('POST', `/compactions/${compaction?.jobId}:cancel`);
  await call('DELETE', '/messages/m_21');

  expect(strange(status.seen)).toEqual([]);
  expect(statesOf(status.seen)).toEqual(
    expect.arrayContaining(['RUNNING', 'VERIFYING', 'COMPACTED', 'QUEUED', 'ABORTED']),
  );
  expect(status.seen.length).toBeGreaterThan(8);
});

async function kindsOf(app: WireApp, id: string) {
  const answer = await app.ok({ method: 'GET', path: `/v1/conversations/${id}/compactions`, uid });
  const { compactions } = compactionListResponse.parse(answer);
  return compactions.map(({ generation, kind }) => `${generation} ${kind}`);
}

test('an edit, a regeneration, a deletion and a restore are no compactions in the list', async () => {
  const { app, bench, id, call } = await world();
  await compactOnce(bench, id);
  const said = message('Hello');
  await call('POST', '/messages', said);

  await call('POST', '/messages/m_21:regenerate', {});
  await call('DELETE', '/messages/m_3');
  await call('POST', ':restore', { generation: 0 });

  const [newest, ...others] = await kindsOf(app, id);
  expect(newest).toContain('restore');
  expect(others.filter((each) => each.endsWith('change')).length).toBeGreaterThan(1);
  expect(others.at(-1)).toBe('1 compaction');
});
