import { afterAll, describe, expect, test } from 'vitest';
import { rateCompaction } from '#functions/chat/features/rate-compaction.ts';
import {
  compactionListResponse,
  compactionRecordResponse,
} from '#shared/wire/resources/compaction.ts';
import { ratingResponse } from '#shared/wire/resources/ratings.ts';
import { errorOf } from '../support/chat/chat-server.ts';
import { brokenRules } from '../support/compaction/commit-rules.ts';
import { erase, remainsOf } from '../support/compaction/erasing.ts';
import { createConversation, readAs } from '../support/chat/http-answers.ts';
import { CANARY, canaries, compacted, lifecycle, owner } from '../support/chat/lifecycle.ts';
import { history, writeHistories } from '../support/compaction/past-compactions.ts';
import { startRecordedServer } from '../support/processes/recorded-server.ts';

const { chat, recorded } = await startRecordedServer();
afterAll(() => chat.stop());

/** A conversation of alice that was compacted twice. */
async function compactedTwice() {
  const { id } = await createConversation(chat);
  await writeHistories(chat.dependencies.store, id, [history(1, 10_000), history(2, 20_000)]);
  return `/v1/conversations/${id}`;
}

const rate = (path: string, body: unknown, generation: number | string = 1) =>
  chat.call(`${path}/compactions/${generation}:rate`, { body });

describe('rating a compaction', () => {
  test('a compaction’s rating is shown with it, alone and in the list, and may change', async () => {
    const path = await compactedTwice();

    await rate(path, { score: 2, comment: 'It forgot my name.' });
    const rating = await readAs(ratingResponse, await rate(path, { score: 4 }));

    expect(rating).toEqual({ score: 4, at: rating.at });
    const one = await chat.call(`${path}/compactions/1`);
    expect((await readAs(compactionRecordResponse, one)).rating).toEqual(rating);
    const all = await readAs(compactionListResponse, await chat.call(`${path}/compactions`));
    expect(all.compactions.map((each) => each.rating?.score)).toEqual([undefined, 4]);
  });

  test('rating a compaction twice with the same score changes nothing', async () => {
    const path = await compactedTwice();
    const first = await readAs(ratingResponse, await rate(path, { score: 5 }));
    const before = recorded.commits.length;

    expect(await readAs(ratingResponse, await rate(path, { score: 5 }))).toEqual(first);
    expect(recorded.commits).toHaveLength(before);
  });

  test('rating a compaction keeps the conversation’s ETag', async () => {
    const path = await compactedTwice();
    const etag = async () => (await chat.call(path)).headers.get('etag');
    const before = await etag();

    await rate(path, { score: 5 });

    expect(await etag()).toBe(before);
  });

  test('rating a compaction logs the score without the comment', async () => {
    const path = await compactedTwice();

    await rate(path, { score: 3, comment: CANARY });

    const line = chat.logs.findLast(({ event }) => event === 'compaction_rated');
    expect(line?.fields).toMatchObject({ generation: 1, score: 3, strategy: 'gemini-cli' });
    expect(JSON.stringify(chat.logs)).not.toContain(CANARY);
  });

  test.each([
    [{}],
    [{ score: 0 }],
    [{ score: 6 }],
    [{ score: 2.5 }],
    [{ score: '5' }],
    [{ score: 5, comment: 'x'.repeat(2_001) }],
    [{ score: 5, generation: 2 }],
  ])('rating a compaction with %j is refused', async (body) => {
    const path = await compactedTwice();

    expect(await errorOf(await rate(path, body))).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
  });

  test('rating a missing generation or another user’s is not found', async () => {
    const path = await compactedTwice();

    const none = await rate(path, { score: 5 }, 3);
    expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'GENERATION_NOT_FOUND' });
    const zero = await rate(path, { score: 5 }, 0);
    expect(await errorOf(zero)).toMatchObject({ http: 404 });
    const others = await chat.call(`${path}/compactions/1:rate`, {
      body: { score: 5 },
      uid: 'bob',
    });
    const reason = 'CONVERSATION_NOT_FOUND';
    expect(await errorOf(others)).toMatchObject({ http: 404, reason });
  });

  test('rating a compaction breaks no rule of commits', () => {
    const ratings = recorded.commits.filter((writes) =>
      writes.some((write) => write.path.includes('/ratings/')),
    );
    expect(ratings.length).toBeGreaterThan(0);
    expect(ratings.flatMap(brokenRules)).toEqual([]);
  });

  test('a compaction’s rating is erased with the conversation', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const request = { caller: owner, conversationId, generation: 1, score: 1, comment: CANARY };
    await rateCompaction(world.chat, request);
    expect(await canaries(world)).toContainEqual(expect.stringContaining('/ratings/'));

    await erase(world);

    expect(await remainsOf(world)).toEqual([]);
  });
});
