import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  deleteConversation,
  eraseOwnConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { budgetCollection } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { limitedChat, usageOf } from '#test/support/chat/quotas.ts';
import { request } from '#test/support/chat/sending.ts';
import { settle } from '#test/support/chat/streaming.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const usage = { promptTokens: 300, cachedTokens: 200, outputTokens: 40, thoughtsTokens: 10 };
const limits = { USER_DAILY_MESSAGES: '50', STREAMS_PER_USER: '3', GLOBAL_DAILY_USD: '9' };

type Chat = ReturnType<typeof limitedChat>;

/** What the budget of all has of the day, millionths of a dollar. */
const budgetMicros = ({ store }: Chat): Promise<number> =>
  store.sum(budgetCollection('2026-01-02'), 'costMicros');

const deletions: Readonly<
  Record<string, (chat: Chat, conversationId: string) => Promise<unknown>>
> = {
  'its user is erased': (chat) => eraseUser(chat, { caller }),
  'its conversation is erased': (chat, conversationId) =>
    eraseOwnConversation(chat, { caller, conversationId }),
  'its conversation is put into the bin': (chat, conversationId) =>
    deleteConversation(chat, { caller, conversationId }),
};

describe.each(Object.entries(deletions))('while it is answered, %s', (_, remove) => {
  test('an answer that its model has reported is charged', async () => {
    const conversationId = randomUUID();
    const chunks = [{ parts: [{ text: 'Half' }], usage }];
    const { model } = scriptedStreamer({ chunks });
    const chat: Chat = limitedChat(limits, {
      model,
      clock: createManualClock(),
      atCrashPoint: async (point) => {
        if (point === 'answer-streamed') await remove(chat, conversationId);
      },
    });

    const handle = await sendMessage(chat, request(conversationId, 'Hello'));
    await expect(handle.result).rejects.toThrow(AppError);

    expect(await usageOf(chat.store)).toMatchObject({
      messages: 1,
      tokens: 150,
      costMicros: 350,
      open: [],
    });
    expect(await budgetMicros(chat)).toBe(350);
  });

  test('three answers without figures are charged as reserved and free their places', async () => {
    const { model, call, calls } = steeredStreamer();
    const chat = limitedChat(limits, { model, clock: createManualClock() });
    const conversationIds = [randomUUID(), randomUUID(), randomUUID()];
    const handles = [];
    for (const id of conversationIds) handles.push(await sendMessage(chat, request(id, 'Hello')));
    for (const n of handles.keys()) (await call(n)).say('Seen.');
    await settle();
    const { open } = await usageOf(chat.store);
    const reservedTokens = open.reduce((sum, { tokens }) => sum + tokens, 0);

    for (const id of conversationIds) await remove(chat, id);
    for (const one of calls) one.end();
    for (const { result } of handles) await expect(result).rejects.toThrow(AppError);

    expect(reservedTokens).toBeGreaterThan(1_500);
    expect(await usageOf(chat.store)).toMatchObject({
      messages: 3,
      tokens: reservedTokens,
      open: [],
    });
    await expect(sendMessage(chat, request(randomUUID(), 'Hello'))).resolves.toBeDefined();
  });
});
