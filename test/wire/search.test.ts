import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { searchAllResponse, searchResponse } from '#shared/wire/resources/search.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { buildConversation, type TurnToBuild } from '../support/compaction/conversation-builder.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

/** A conversation of alice. */
const build = async (turns: readonly TurnToBuild[]) => {
  const conversation = { ownerUid: 'alice' };
  return (await buildConversation(chat.dependencies.store, { turns, conversation })).conversationId;
};

const ask = (id: string, q: string, more = '') =>
  chat.call(`/v1/conversations/${id}:search?q=${encodeURIComponent(q)}${more}`);
const search = async (id: string, q: string, more = '') =>
  readAs(searchResponse, await ask(id, q, more));

const filler = (count: number): TurnToBuild[] =>
  Array.from({ length: count }, (_, i) => ({ user: `Filler ${i}.`, answer: 'Nothing.' }));

test('searching a conversation finds questions and answers with place and score', async () => {
  const id = await build([
    { user: 'My boat is called Anchor Rose.', answer: 'A fine name for a boat.' },
    ...filler(5),
  ]);

  const { hits, searched, nextPageToken } = await search(id, 'anchor boat');

  expect(hits.map(({ role, seq }) => `${role}${seq}`)).toEqual(['user1', 'model1']);
  expect(hits[0]?.snippet).toBe('My boat is called Anchor Rose.');
  expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? 0);
  expect(hits[1]?.messageId).toBe('m_1');
  expect(searched).toEqual({ turns: 6, newestSeq: 6, oldestSeq: 1, isWhole: true });
  expect(nextPageToken).toBeUndefined();
});

test('searching a conversation finds failed messages, and marks what an edit or a regeneration replaced', async () => {
  const id = await build([
    { user: 'the boat, replaced', answer: 'a boat', replacedBy: 3 },
    { user: 'the boat, failed', answer: [], state: 'failed', inContext: false },
    { user: 'the boat that counts', answer: 'yes' },
  ]);

  const { hits } = await search(id, 'boat');

  const marks = hits.map(({ messageId, replaced }) => [messageId, replaced] as const);
  expect(Object.fromEntries(marks)).toEqual({
    'message-1': true,
    m_1: true,
    'message-2': undefined,
    'message-3': undefined,
  });
});

test('searching a long conversation lets other work go on between its turns', async () => {
  const pasted = 'The boat left the harbour at nine.\n'.repeat(3_000);
  const id = await build(Array.from({ length: 6 }, () => ({ user: pasted, answer: pasted })));
  let goes = 0;
  let isSearching = true;
  const otherWork = () => {
    goes += 1;
    if (isSearching) setImmediate(otherWork);
  };
  setImmediate(otherWork);

  const { hits } = await search(id, 'boat');
  isSearching = false;

  expect(hits).toHaveLength(12);
  expect(goes).toBeGreaterThanOrEqual(6);
});

test('searching a conversation never finds a deleted message', async () => {
  const id = await build([{ user: 'the boat', answer: 'a boat' }, ...filler(2)]);
  const caller = { uid: 'alice', tier: 'signedIn' } as const;
  const remove = (messageId: string) =>
    deleteMessage(chat.dependencies, { caller, conversationId: id, messageId });

  await remove('m_1');
  const answerGone = await search(id, 'boat');
  await remove('message-1');

  expect(answerGone.hits.map(({ role }) => role)).toEqual(['user']);
  expect((await search(id, 'boat')).hits).toEqual([]);
});

test('searching a conversation returns hits page by page, each once, best first', async () => {
  const turns = Array.from({ length: 7 }, (_, i) => ({
    user: `boat ${'and so on '.repeat(i)}`,
    answer: 'ok',
  }));
  const id = await build(turns);

  const seen: number[] = [];
  let token: string | undefined;
  do {
    const page = await search(id, 'boat', `&pageSize=3${token ? `&pageToken=${token}` : ''}`);
    seen.push(...page.hits.map(({ seq }) => seq));
    token = page.nextPageToken;
  } while (token !== undefined);

  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('searching a conversation covers 2,000 turns at a time and reports its progress', async () => {
  const id = await build([{ user: 'the oldest boat', answer: 'ok' }, ...filler(2_049)]);

  const first = await search(id, 'boat');
  const second = await search(id, 'boat', `&pageToken=${first.nextPageToken}`);

  expect(first).toMatchObject({
    hits: [],
    searched: { turns: 2_000, newestSeq: 2_050, oldestSeq: 51, isWhole: false },
  });
  expect(second.searched).toEqual({ turns: 50, newestSeq: 50, oldestSeq: 1, isWhole: true });
  expect(second.hits.map(({ seq }) => seq)).toEqual([1]);
  expect(second.nextPageToken).toBeUndefined();
});

test.each([
  ['nothing', ''],
  ['signs alone', '?!'],
  ['a text in place of words', 'a'.repeat(201)],
])('searching a conversation refuses %s', async (_, q) => {
  const { id } = await createConversation(chat);

  expect(await errorOf(await ask(id, q))).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
});

const askAll = (q: string, more = '', uid = 'alice') =>
  chat.call(`/v1/users/me/search?q=${encodeURIComponent(q)}${more}`, { uid });

test('searching all conversations finds what was sent to any of them, and nothing of another user', async () => {
  const say = async (uid: string, text: string) => {
    const { id } = await createConversation(chat, { uid });
    const message = { id: randomUUID(), parts: [{ type: 'text', text }] };
    await chat.call(`/v1/conversations/${id}/messages`, { uid, body: { message } });
    return id;
  };
  const first = await say('carol', 'My barometer falls.');
  const second = await say('carol', 'The barometer rises again.');
  await say('dave', 'My barometer is broken.');

  const found = await readAs(searchAllResponse, await askAll('barometer', '', 'carol'));

  const ids = found.hits.map(({ conversationId }) => conversationId);
  expect(new Set(ids)).toEqual(new Set([first, second]));
  expect(found).toMatchObject({ searched: 2, unreached: [] });
});

test.each([
  ['without words', '?!', '', 'BAD_FIELD'],
  ['for a text in place of words', 'a'.repeat(201), '', 'BAD_FIELD'],
  ['with a page token that is none', 'boat', '&pageToken=x', 'PAGE_TOKEN_INVALID'],
])('searching all conversations %s is refused', async (_, q, more, reason) => {
  expect(await errorOf(await askAll(q, more))).toMatchObject({ http: 400, reason });
});

test('a page token of a search is refused with other words, and by another user', async () => {
  for (let i = 0; i < 2; i++) {
    const { id } = await createConversation(chat, { uid: 'erin' });
    const message = { id: randomUUID(), parts: [{ type: 'text', text: 'The anchor holds.' }] };
    await chat.call(`/v1/conversations/${id}/messages`, { uid: 'erin', body: { message } });
  }
  const first = await askAll('anchor', '&pageSize=1', 'erin');
  const { nextPageToken } = await readAs(searchAllResponse, first);
  const more = `&pageSize=1&pageToken=${nextPageToken}`;

  const refused = { http: 400, reason: 'PAGE_TOKEN_INVALID' };
  expect(await errorOf(await askAll('boat', more, 'erin'))).toMatchObject(refused);
  expect(await errorOf(await askAll('anchor', more, 'mallory'))).toMatchObject(refused);
});
