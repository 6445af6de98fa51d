import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { feedbackResponse } from '#shared/wire/resources/ratings.ts';
import { errorOf } from '../support/chat/chat-server.ts';
import {
  CANARY,
  canaries,
  lifecycle,
  owner,
  shortConversation,
} from '../support/chat/lifecycle.ts';
import { erase, remainsOf } from '../support/compaction/erasing.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { putFeedback } from '#functions/chat/features/give-feedback.ts';
import { readAs } from '../support/chat/http-answers.ts';
import { startRecordedServer } from '../support/processes/recorded-server.ts';

const { chat, recorded } = await startRecordedServer();
afterAll(() => chat.stop());

/** A conversation of alice with one answered message. */
async function answered() {
  const id = randomUUID();
  const response = await chat.call(`/v1/conversations/${id}/messages`, {
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello.' }] } },
  });
  const { userMessage } = await readAs(sendMessageResponse, response);
  return { id, path: `/v1/conversations/${id}`, questionId: userMessage.id };
}

const put = (path: string, body: unknown, messageId = 'm_1') =>
  chat.call(`${path}/messages/${messageId}/feedback`, { method: 'PUT', body });
const take = (path: string, messageId = 'm_1') =>
  chat.call(`${path}/messages/${messageId}/feedback`, { method: 'DELETE' });

const shown = async (path: string) => {
  const response = await chat.call(`${path}/messages`);
  const { messages } = await readAs(messageListResponse, response);
  return messages.find(({ role }) => role === 'model')?.feedback;
};

describe('feedback on an answer', () => {
  test('feedback is given, shown in the transcript, replaced and removed', async () => {
    const { path } = await answered();

    const given = await readAs(
      feedbackResponse,
      await put(path, { rating: 'down', reason: 'wrong', comment: '틀렸어요' }),
    );
    expect(given).toMatchObject({ rating: 'down', reason: 'wrong', comment: '틀렸어요' });
    expect(await shown(path)).toEqual(given);
    await put(path, { rating: 'up' });
    const replaced = await shown(path);
    expect(replaced).toEqual({ rating: 'up', at: replaced?.at });
    expect((await take(path)).status).toBe(204);
    expect(await shown(path)).toBeUndefined();
  });

  test('feedback given or removed twice changes nothing', async () => {
    const { path } = await answered();
    const first = await readAs(feedbackResponse, await put(path, { rating: 'up' }));
    const before = recorded.commits.length;

    const again = await readAs(feedbackResponse, await put(path, { rating: 'up' }));
    expect(again).toEqual(first);
    expect(recorded.commits).toHaveLength(before);
    await take(path);
    expect((await take(path)).status).toBe(204);
    expect(recorded.commits).toHaveLength(before + 1);
  });

  test('feedback is in the export', async () => {
    const { path } = await answered();
    await put(path, { rating: 'up', comment: 'Thanks' });

    const text = await (await chat.call(`${path}:export`)).text();

    const last = exportLineResponse.parse(JSON.parse(text.trim().split('\n').at(-1) ?? ''));
    expect(last).toMatchObject({ feedback: { rating: 'up', comment: 'Thanks' } });
  });

  test('feedback given ten times at once is one of them, whole', async () => {
    const { path } = await answered();

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => put(path, { rating: 'up', comment: `c${i}` })),
    );

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await shown(path))?.comment).toMatch(/^c\d$/);
  });

  test.each([
    [{}],
    [{ rating: 'best' }],
    [{ rating: 'up', comment: '' }],
    [{ rating: 'up', comment: 'x'.repeat(2_001) }],
    [{ rating: 'up', reason: 'x'.repeat(101) }],
    [{ rating: 'up', uid: 'bob' }],
    [{ rating: 'up', comment: '\ud800' }],
  ])('feedback with %j is refused', async (body) => {
    const { path } = await answered();

    expect(await errorOf(await put(path, body))).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
  });

  test('feedback on a question, a missing or a deleted answer is refused', async () => {
    const { path, questionId } = await answered();

    const question = await put(path, { rating: 'up' }, questionId);
    expect(await errorOf(question)).toMatchObject({ http: 400, reason: 'NOT_AN_ANSWER' });
    const none = await put(path, { rating: 'up' }, 'm_2');
    expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'MESSAGE_NOT_FOUND' });
    await chat.call(`${path}/messages/m_1`, { method: 'DELETE' });
    const deleted = await put(path, { rating: 'up' });
    expect(await errorOf(deleted)).toMatchObject({ http: 404, reason: 'MESSAGE_NOT_FOUND' });
  });

  test('feedback on another user’s answer is not found', async () => {
    const { path } = await answered();

    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { rating: 'up' } : undefined;
      const response = await chat.call(`${path}/messages/m_1/feedback`, {
        method,
        body,
        uid: 'bob',
      });
      const reason = 'CONVERSATION_NOT_FOUND';
      expect(await errorOf(response)).toMatchObject({ http: 404, reason });
    }
  });

  test('feedback breaks no rule of commits', () => {
    expect(recorded.commits.length).toBeGreaterThan(0);
    expect(recorded.brokenRules()).toEqual([]);
  });
});

describe('erasing what feedback was given on', () => {
  const feedback = { rating: 'down', comment: `Not ${CANARY}` } as const;

  test('erasing an answer erases its feedback', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const target = { caller: owner, conversationId, messageId: 'm_1' };
    await putFeedback(world.chat, { ...target, feedback });
    expect(await canaries(world)).toContainEqual(expect.stringMatching(/turns\/0+1$/));

    await deleteMessage(world.chat, target);

    expect(await canaries(world)).not.toContainEqual(expect.stringMatching(/turns\/0+1$/));
  });

  test('erasing a user erases their feedback', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await putFeedback(world.chat, { caller: owner, conversationId, messageId: 'm_1', feedback });

    await erase(world);

    expect(await remainsOf(world)).toEqual([]);
  });
});
