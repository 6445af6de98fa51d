import { describe, expect, test } from 'vitest';
import { recallHistory, RECALL_TURNS } from '../../functions/src/chat/tools/recall-history.ts';
import type { ToolCallContext } from '../../functions/src/chat/tools/server-tool.ts';
import type { ChatDependencies } from '../../functions/src/chat/chat-dependencies.ts';
import { deleteMessage } from '../../functions/src/chat/conversation/delete-message.ts';
import type { Content } from '../../shared/conversation/content.ts';
import { turnPath } from '../../shared/conversation/paths.ts';
import { readHead } from '../../shared/conversation/read-conversation.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { compacted, lifecycle, owner } from '../support/lifecycle.ts';
import { buildConversation, modelText, type TurnToBuild } from '../support/conversation-builder.ts';
import { edit, threeTurns } from '../support/replacing.ts';
import { answered } from '../support/starts.ts';

const alice = { uid: 'u1', tier: 'signedIn' } as const;

interface Hit {
  seq: number;
  role: string;
  time: string;
  snippet: string;
  beside?: { role: string; snippet: string };
}

const isHits = (value: unknown): value is Hit[] => Array.isArray(value);

type Asked = { query: string; before?: number } & Partial<ToolCallContext>;

/** What the tool answers to a call in the turn after the last one. */
async function recall(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  conversationId: string,
  { query, before, ...context }: Asked,
) {
  const head = await readHead(dependencies.store, conversationId);
  const seq = (head?.value.lastSeq ?? 0) + 1;
  const response = await recallHistory(dependencies).run(
    { query, before },
    {
      caller: alice,
      conversationId,
      seq,
      key: `t_${seq}:0`,
      signal: new AbortController().signal,
      ...context,
    },
  );
  const { hits, searched, note } = response;
  if (!isHits(hits)) throw new Error('no hits in the response');
  return { hits, searched, note };
}

async function conversationOf(turns: readonly TurnToBuild[]) {
  const dependencies = chatDependencies();
  const { conversationId } = await buildConversation(dependencies.store, { turns });
  return { dependencies, conversationId };
}

const filler = (count: number): TurnToBuild[] =>
  Array.from({ length: count }, (_, i) => ({ user: `Filler ${i}.`, answer: 'Nothing.' }));

const call = (name: string, args: Record<string, unknown>): Content => ({
  role: 'model',
  parts: [{ functionCall: { name, args } }],
});
const response = (name: string, output: string): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name, response: { output } } }],
});

describe('recall_history', () => {
  test('finds a turn by other forms of its words and shows both sides of it', async () => {
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
  ])('finds %s', async (...[, user, query]) => {
    const turns = [...filler(4), { user, answer: 'OK' }, ...filler(4)];
    const { dependencies, conversationId } = await conversationOf(turns);

    expect((await recall(dependencies, conversationId, { query })).hits[0]?.seq).toBe(5);
  });

  test('puts what people said before what a tool returned, and finds that too', async () => {
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

  test('does not find what it said itself', async () => {
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

  test('shows no thoughts', async () => {
    const thought: Content = { role: 'model', parts: [{ text: 'secret Piran', thought: true }] };
    const turns = [{ user: 'Hi.', answer: [thought, modelText('Hello.')] }, ...filler(3)];
    const { dependencies, conversationId } = await conversationOf(turns);

    expect((await recall(dependencies, conversationId, { query: 'Piran' })).hits).toEqual([]);
  });

  test('gives at most ten hits of 450 characters each, whatever stands there', async () => {
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

  test('finds neither the turn that asks nor what comes after it', async () => {
    const { dependencies, conversationId } = await conversationOf([
      { user: 'the boat, first', answer: 'x' },
      { user: 'the boat, second', answer: 'x' },
      { user: 'the boat, third', answer: 'x' },
    ]);

    const { hits } = await recall(dependencies, conversationId, { query: 'boat', seq: 2 });

    expect(hits.map(({ seq }) => seq)).toEqual([1]);
  });

  test('leaves out what an edit replaced, also where its text was read before', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const before = await recall(dependencies, id, { query: 'two' });

    await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));
    const after = await recall(dependencies, id, { query: 'two' });

    const said = (hits: Hit[]) =>
      hits.map(({ snippet }) => snippet).filter((text) => text.includes('two'));
    expect(said(before.hits)).toEqual(['two']);
    expect(said(after.hits)).toEqual(['two, corrected']);
  });

  test('never gives text that was erased, also where it was read before', async () => {
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

  test('finds what a compaction has folded', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const head = await readHead(world.store, conversationId);

    const { hits } = await recall(world.chat, conversationId, {
      query: 'Question 1 harbour',
      caller: owner,
    });

    expect(head?.value.coveredThrough.seq).toBeGreaterThan(1);
    expect(hits.some(({ seq }) => seq <= (head?.value.coveredThrough.seq ?? 0))).toBe(true);
  });

  test('of another user’s conversation is not found', async () => {
    const { dependencies, conversationId } = await conversationOf(filler(2));
    const bob = { uid: 'bob', tier: 'signedIn' } as const;

    const asked = recall(dependencies, conversationId, { query: 'filler', caller: bob });

    await expect(asked).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test.each(['?!', 'hippopotamus'])('says that %s was not found', async (query) => {
    const { dependencies, conversationId } = await conversationOf(filler(2));

    expect(await recall(dependencies, conversationId, { query })).toMatchObject({
      hits: [],
      note: expect.stringContaining('Nothing was found'),
    });
  });

  test('goes on before a turn that it is told', async () => {
    const { dependencies, conversationId } = await conversationOf([
      { user: 'the boat, first', answer: 'x' },
      ...filler(2),
      { user: 'the boat, second', answer: 'x' },
    ]);

    const { hits } = await recall(dependencies, conversationId, { query: 'boat', before: 4 });

    expect(hits.map(({ seq }) => seq)).not.toContain(4);
    expect(hits[0]?.seq).toBe(1);
  });

  test('reads a turn once and finds it again from memory', async () => {
    const { dependencies, conversationId } = await conversationOf(filler(200));
    let turnReads = 0;
    const store = {
      ...dependencies.store,
      get: (paths: readonly string[]) => {
        turnReads += paths.filter((path) => path.includes('/turns/')).length;
        return dependencies.store.get(paths);
      },
    };
    const counting = { store, cache: dependencies.cache };
    await recall(counting, conversationId, { query: 'filler' });
    const first = turnReads;

    await recall(counting, conversationId, { query: 'nothing' });

    expect(first).toBe(200);
    expect(turnReads).toBe(200);
  });

  test('looks through no more turns than its bound, and says how to go on', async () => {
    const { dependencies, conversationId } = await conversationOf([
      { user: 'the oldest boat', answer: 'x' },
      ...filler(1),
    ]);
    const last = RECALL_TURNS + 1;
    const [oldest] = await dependencies.store.get([turnPath(conversationId, 1)]);
    const read: string[] = [];
    const store = {
      ...dependencies.store,
      get: (paths: readonly string[]) => {
        read.push(...paths.filter((path) => path.includes('/turns/')));
        return dependencies.store.get(paths);
      },
    };

    const { hits, searched, note } = await recall(
      { store, cache: dependencies.cache },
      conversationId,
      { query: 'oldest boat', seq: last + 1 },
    );

    expect(oldest).toBeDefined();
    expect(read).toHaveLength(RECALL_TURNS);
    expect(searched).toMatchObject({ turns: RECALL_TURNS, oldestSeq: 2, isWhole: false });
    expect(hits.map(({ seq }) => seq)).not.toContain(1);
    expect(note).toContain('"before": 2');
  });

  test('ends when the turn is stopped', async () => {
    const { dependencies, conversationId } = await conversationOf(filler(2));

    const asked = recall(dependencies, conversationId, {
      query: 'filler',
      signal: AbortSignal.abort(new Error('stopped')),
    });

    await expect(asked).rejects.toThrow('stopped');
  });
});
