import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { compacted, lifecycle, owner } from '#test/support/chat/lifecycle.ts';
import { modelText } from '#test/support/compaction/conversation-builder.ts';
import { edit, threeTurns } from '#test/support/chat/replacing.ts';
import { answered } from '#test/support/chat/starts.ts';
import {
  alice,
  call,
  conversationOf,
  filler,
  recall,
  response,
  type Hit,
} from '#test/support/compaction/recalling.ts';
import { boundsOfRecall } from './recall-bounds.suite.ts';

describe('recall_history', () => {
  test('recall_history finds a turn by other word forms and shows both sides', async () => {
    const { dependencies, conversationId } = await conversationOf([
      ...filler(2),
      { user: 'I bought two tickets to Lisbon.', answer: 'Seat 12A, then.' },
      ...filler(5),
    ]);

    const { hits, searched } = await recall(dependencies, conversationId, {
      query: 'When did I buy the ticket to Lisbon?',
    });

    expect(hits[0]).toEqual({
      seq: 3,
      role: 'user',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      snippet: 'I bought two tickets to Lisbon.',
      beside: { role: 'model', snippet: 'Seat 12A, then.' },
    });
    expect(searched).toEqual({ turns: 8, newestSeq: 8, oldestSeq: 1, isWhole: true });
  });

  test.each([
    ['Chinese', '我对花生过敏，千万别放。', '花生 过敏'],
    ['Japanese', '来週、京都へ旅行に行きます。', '京都旅行'],
    ['Korean', '저는 견과류를 못 먹어요.', '견과류'],
  ])('recall_history finds %s', async (...[, user, query]) => {
    const turns = [...filler(4), { user, answer: 'OK' }, ...filler(4)];
    const { dependencies, conversationId } = await conversationOf(turns);

    expect((await recall(dependencies, conversationId, { query })).hits[0]?.seq).toBe(5);
  });

  test('recall_history ranks people’s words before tool outputs, and finds both', async () => {
    const turns = [
      {
        user: 'Look it up.',
        answer: [call('search', { q: 'ferry' }), response('search', 'The ferry sails at 18:45.')],
      },
      ...filler(3),
      { user: 'I will take the ferry.', answer: 'Fine.' },
      ...filler(3),
    ];
    const { dependencies, conversationId } = await conversationOf(turns);

    const { hits } = await recall(dependencies, conversationId, { query: 'ferry' });
    const timed = await recall(dependencies, conversationId, { query: '18:45' });

    expect(hits.filter(({ snippet }) => snippet.includes('ferry')).map(({ seq }) => seq)).toEqual([
      5, 1,
    ]);
    expect(timed.hits[0]).toMatchObject({ seq: 1, role: 'tool' });
    expect(timed.hits[0]?.snippet).toContain('sails at 18:45');
  });

  test('recall_history does not find its own output', async () => {
    const echo = response('recall_history', 'the harbour of Piran');
    const turns = [
      { user: 'The harbour of Piran.', answer: 'Yes.' },
      ...filler(4),
      { user: 'Which one?', answer: [call('recall_history', { query: 'Piran' }), echo] },
      ...filler(4),
    ];
    const { dependencies, conversationId } = await conversationOf(turns);

    const { hits } = await recall(dependencies, conversationId, { query: 'Piran' });

    expect(hits.filter(({ snippet }) => snippet.includes('Piran')).map(({ seq }) => seq)).toEqual([
      1,
    ]);
  });

  test('recall_history shows no thoughts', async () => {
    const thought: Content = { role: 'model', parts: [{ text: 'secret Piran', thought: true }] };
    const turns = [{ user: 'Hi.', answer: [thought, modelText('Hello.')] }, ...filler(3)];
    const { dependencies, conversationId } = await conversationOf(turns);

    expect((await recall(dependencies, conversationId, { query: 'Piran' })).hits).toEqual([]);
  });

  test('recall_history returns at most ten hits of 450 characters each', async () => {
    const long = `${'a long way '.repeat(300)} boat ${'and back '.repeat(300)}`;
    const turns = Array.from({ length: 30 }, () => ({ user: long, answer: long }));
    const { dependencies, conversationId } = await conversationOf(turns);

    const { hits } = await recall(dependencies, conversationId, { query: 'boat' });

    const lengths = hits.map(
      ({ snippet, beside }) => snippet.length + (beside?.snippet.length ?? 0),
    );
    expect(hits).toHaveLength(10);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(450);
    expect(JSON.stringify(hits).length).toBeLessThan(6_000);
    expect(hits.every(({ snippet }) => snippet.includes('boat'))).toBe(true);
  });

  test('recall_history finds neither the asking turn nor later ones', async () => {
    const { dependencies, conversationId } = await conversationOf([
      { user: 'the boat, first', answer: 'x' },
      { user: 'the boat, second', answer: 'x' },
      { user: 'the boat, third', answer: 'x' },
    ]);

    const { hits } = await recall(dependencies, conversationId, { query: 'boat', seq: 2 });

    expect(hits.map(({ seq }) => seq)).toEqual([1]);
  });

  test('recall_history leaves out what an edit replaced, also when already read', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const before = await recall(dependencies, id, { query: 'two' });

    await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));
    const after = await recall(dependencies, id, { query: 'two' });

    const said = (hits: Hit[]) =>
      hits.map(({ snippet }) => snippet).filter((text) => text.includes('two'));
    expect(said(before.hits)).toEqual(['two']);
    expect(said(after.hits)).toEqual(['two, corrected']);
  });

  test('recall_history never returns erased text, also when already read', async () => {
    const { dependencies, conversationId } = await conversationOf([
      ...filler(1),
      { user: 'My code is 7731.', answer: 'The code 7731, noted.' },
      ...filler(3),
    ]);
    const before = await recall(dependencies, conversationId, { query: 'code 7731' });

    await deleteMessage(dependencies, { caller: alice, conversationId, messageId: 'message-2' });
    const after = await recall(dependencies, conversationId, { query: 'code 7731' });

    expect(before.hits[0]?.seq).toBe(2);
    expect(JSON.stringify(after)).not.toContain('7731');
  });

  test('recall_history finds what a compaction has folded', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const conversation = await readConversation(world.store, conversationId);

    const { hits } = await recall(world.chat, conversationId, {
      query: 'Question 1 harbour',
      caller: owner,
    });

    expect(conversation?.value.coveredThrough.seq).toBeGreaterThan(1);
    expect(hits.some(({ seq }) => seq <= (conversation?.value.coveredThrough.seq ?? 0))).toBe(true);
  });

  test('recall_history does not find another user’s conversation', async () => {
    const { dependencies, conversationId } = await conversationOf(filler(2));
    const bob = { uid: 'bob', tier: 'signedIn' } as const;

    const asked = recall(dependencies, conversationId, { query: 'filler', caller: bob });

    await expect(asked).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test.each(['?!', 'hippopotamus'])('recall_history says that %s was not found', async (query) => {
    const { dependencies, conversationId } = await conversationOf(filler(2));

    expect(await recall(dependencies, conversationId, { query })).toMatchObject({
      hits: [],
      note: expect.stringContaining('Nothing was found'),
    });
  });
});

boundsOfRecall();

test('recall_history lets other work go on every 16,384 characters of a long conversation', async () => {
  const pasted = `The boat left.\n${'The bees fly high over the hill.\n'.repeat(3_000)}`;
  const turns = Array.from({ length: 6 }, () => ({ user: pasted, answer: pasted }));
  const { dependencies, conversationId } = await conversationOf(turns);
  let goes = 0;
  let isSearching = true;
  const otherWork = () => {
    goes += 1;
    if (isSearching) setImmediate(otherWork);
  };
  setImmediate(otherWork);

  const { hits } = await recall(dependencies, conversationId, { query: 'boat' });
  isSearching = false;

  expect(hits.map(({ seq }) => seq)).toEqual([6, 5, 4, 3, 2, 1]);
  // Once to find, and once to cut what is shown.
  expect(goes).toBeGreaterThanOrEqual((2 * 12 * pasted.length) / 16_384);
});
