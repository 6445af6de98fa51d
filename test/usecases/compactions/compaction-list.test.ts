import { type Snapshot, emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import {
  compactionDetailResponse,
  compactionListResponse,
} from '#shared/wire/resources/compaction.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import {
  history,
  record,
  writeHistories,
  writeJob,
} from '#test/support/compaction/past-compactions.ts';
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
    const item = { importance: 2, by: 'model' } as const;
    const snapshot: Snapshot = {
      ...emptySnapshot('assistant'),
      sections: {
        decisions: [{ ...item, id: 'i2', text: 'The boat is blue.', sources: [3, 5] }],
        key_knowledge: [
          { ...item, id: 'i1', text: 'The dog is Pixel.', sources: [1], quote: 'Pixel' },
        ],
        timeline: [
          { ...item, id: 'i3', text: 'Boats', sources: [3], through: 6, at: '2026-11-21' },
        ],
      },
      archive: [{ ...item, id: 'i0', text: 'It rained.', sources: [2], section: 'recent_actions' }],
    };
    await writeHistories(chat.dependencies.store, id, [{ ...history(1, 10_000), snapshot }]);

    const answer = await chat.call(`/v1/conversations/${id}/compactions/1`);
    const { snapshot: items } = await readAs(compactionDetailResponse, answer);

    expect(items).toEqual([
      {
        ...item,
        id: 'i1',
        section: 'key_knowledge',
        layer: 'working',
        text: 'The dog is Pixel.',
        sources: [1],
        quote: 'Pixel',
      },
      {
        ...item,
        id: 'i2',
        section: 'decisions',
        layer: 'working',
        text: 'The boat is blue.',
        sources: [3, 5],
      },
      {
        ...item,
        id: 'i3',
        section: 'timeline',
        layer: 'working',
        text: 'Boats',
        sources: [3],
        through: 6,
        at: '2026-11-21',
      },
      {
        ...item,
        id: 'i0',
        section: 'recent_actions',
        layer: 'archive',
        text: 'It rained.',
        sources: [2],
      },
    ]);
  });
});
