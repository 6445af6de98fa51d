import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { putFeedback } from '#functions/chat/features/ratings.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import {
  compactionListResponse,
  compactionRecordResponse,
} from '#shared/wire/resources/compaction.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { feedbackResponse, ratingResponse } from '#shared/wire/resources/ratings.ts';
import { errorOf, createConversation, readAs } from '#test/support/chat/chat-server.ts';
import { startChatServer } from '../support/chat/chat-server.ts';
import {
  CANARY,
  canaries,
  lifecycle,
  owner,
  shortConversation,
} from '#test/support/chat/lifecycle.ts';
import { recordCommits } from '../support/compaction/commit-rules.ts';
import { history, writeHistories } from '../support/compaction/past-compactions.ts';

const recorded = recordCommits();
const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
const chat = await startChatServer({ overrides: { store } });
afterAll(() => chat.stop());

/** A conversation of alice with one answered message. */
async function answered() {
  const path = `/v1/conversations/${randomUUID()}`;
  const response = await chat.call(`${path}/messages`, {
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello.' }] } },
  });
  const { userMessage } = await readAs(sendMessageResponse, response);
  return { path, questionId: userMessage.id };
}

const give = (path: string, body: unknown, messageId = 'm_1') =>
  chat.call(`${path}/messages/${messageId}/feedback`, { method: 'PUT', body });
const take = (path: string) => chat.call(`${path}/messages/m_1/feedback`, { method: 'DELETE' });

const shown = async (path: string) => {
  const { messages } = await readAs(messageListResponse, await chat.call(`${path}/messages`));
  return messages.find(({ role }) => role === 'model')?.feedback;
};

test('feedback is given, shown in transcript and export, replaced and removed', async () => {
  const { path } = await answered();
  const feedback = { rating: 'down', reason: 'wrong', comment: '틀렸어요' };

  const given = await readAs(feedbackResponse, await give(path, feedback));

  expect(given).toMatchObject(feedback);
  expect(await shown(path)).toEqual(given);
  const lines = (await (await chat.call(`${path}:export`)).text()).trim().split('\n');
  expect(exportLineResponse.parse(JSON.parse(lines.at(-1) ?? ''))).toMatchObject({ feedback });
  await give(path, { rating: 'up' });
  const replaced = await shown(path);
  expect(replaced).toEqual({ rating: 'up', at: replaced?.at });
  expect((await take(path)).status).toBe(204);
  expect(await shown(path)).toBeUndefined();
});

test('feedback on a question, a missing or a deleted answer is refused', async () => {
  const { path, questionId } = await answered();

  const question = await give(path, { rating: 'up' }, questionId);
  expect(await errorOf(question)).toMatchObject({ http: 400, reason: 'NOT_AN_ANSWER' });
  const none = await give(path, { rating: 'up' }, 'm_2');
  expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'MESSAGE_NOT_FOUND' });
  await chat.call(`${path}/messages/m_1`, { method: 'DELETE' });
  const deleted = await give(path, { rating: 'up' });
  expect(await errorOf(deleted)).toMatchObject({ http: 404, reason: 'MESSAGE_NOT_FOUND' });
});

test('erasing an answer erases its feedback', async () => {
  const world = lifecycle();
  const conversationId = await shortConversation(world);
  const target = { caller: owner, conversationId, messageId: 'm_1' };
  const feedback = { rating: 'down', comment: `Not ${CANARY}` } as const;
  await putFeedback(world.chat, { ...target, feedback });
  expect(await canaries(world)).toContainEqual(expect.stringMatching(/turns\/0+1$/));

  await deleteMessage(world.chat, target);

  expect(await canaries(world)).not.toContainEqual(expect.stringMatching(/turns\/0+1$/));
});

/** A conversation of alice that was compacted twice. */
async function compactedTwice() {
  const { id } = await createConversation(chat);
  await writeHistories(chat.dependencies.store, id, [history(1, 10_000), history(2, 20_000)]);
  return `/v1/conversations/${id}`;
}

const rate = (path: string, body: unknown, generation = 1) =>
  chat.call(`${path}/compactions/${generation}:rate`, { body });

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

test('rating a compaction logs the score without the comment, and keeps the ETag', async () => {
  const path = await compactedTwice();
  const etag = async () => (await chat.call(path)).headers.get('etag');
  const before = await etag();

  await rate(path, { score: 3, comment: CANARY });

  const line = chat.logs.findLast(({ event }) => event === 'compaction_rated');
  expect(line?.fields).toMatchObject({ generation: 1, score: 3, strategy: 'gemini-cli' });
  expect(JSON.stringify(chat.logs)).not.toContain(CANARY);
  expect(await etag()).toBe(before);
});

test.each([0, 3])('rating generation %i, of which there is no compaction, is 404', async (n) => {
  const error = await errorOf(await rate(await compactedTwice(), { score: 5 }, n));

  expect(error).toMatchObject({ http: 404 });
});

test.each<[what: string, body: object]>([
  ['a comment that is too long', { rating: 'up', comment: 'x'.repeat(2_001) }],
  ['a reason that is too long', { rating: 'up', reason: 'x'.repeat(101) }],
  ['no comment in it', { rating: 'up', comment: '' }],
])('feedback with %s is refused', async (_, body) => {
  const { path } = await answered();

  expect(await errorOf(await give(path, body))).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
});

test.each([0, 6, 2.5])('a rating of %s is refused', async (score) => {
  const error = await errorOf(await rate(await compactedTwice(), { score }));

  expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
});
