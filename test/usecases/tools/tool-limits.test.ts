import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { responsesIn, say, useToolModel, toolChat } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);

/** The frames of a turn that fails, and why. */
async function sayFailing(chat: ChatDependencies, conversationId: string, text: string) {
  const handle = await sendMessage(chat, request(conversationId, text));
  const failure = handle.result.then(
    () => undefined,
    (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
  );
  const frames = await collect(handle.frames());
  return { chunks: frames.map(({ chunk }) => chunk), reason: await failure };
}

/** A quota that has nothing left for a second call of a turn. */
const quotaForOneCall: ChatDependencies['quota'] = {
  ...noQuota,
  reserve: async (asked) => ({
    ...(await noQuota.reserve(asked)),
    renew: () =>
      Promise.reject(
        new AppError({
          status: 'RESOURCE_EXHAUSTED',
          reason: 'USER_DAILY_TOKENS',
          message: 'quota of a test',
          publicMessage: 'No tokens are left for today.',
        }),
      ),
  }),
};

describe('a quota that is exhausted between two rounds', () => {
  const spent = async () => {
    const { chat, effects } = toolChat(model, { overrides: { quota: quotaForOneCall } });
    const conversationId = randomUUID();
    const end = await sayFailing(chat, conversationId, 'call weather {"city":"Oslo"}');
    return { chat, effects, conversationId, ...end };
  };

  test('a quota exhausted between two rounds ends the stream with the user’s message', async () => {
    const { chunks, reason } = await spent();

    expect(reason).toBe('USER_DAILY_TOKENS');
    const types = chunks.map(({ type }) => type);
    expect(types.indexOf('tool-output-available')).toBeGreaterThan(0);
    expect(types.indexOf('error')).toBeGreaterThan(types.indexOf('tool-output-available'));
    expect(JSON.stringify(chunks)).toContain('No tokens are left for today.');
    expect(fakeGemini.journal()).toHaveLength(1);
  });

  test('a quota exhausted between two rounds keeps tool results for the next message', async () => {
    const { chat, conversationId, effects } = await spent();
    const kept = await storedTurn(chat, conversationId);
    const shown = await showContext(chat, { caller, conversationId });

    const { turn } = await say(chat, conversationId, 'And now?');

    expect(kept).toMatchObject({ state: 'failed', inContext: true });
    expect(responsesIn(kept.contents)).toMatchObject([{ response: { degrees: 21 } }]);
    expect(JSON.stringify(shown.items)).toContain('"degrees":21');
    expect(turn.state).toBe('done');
    expect(effects.get('t_1:0')).toBe(1);
    const sent = JSON.stringify(fakeGemini.requestBody(fakeGemini.journal().at(-1)?.n ?? 0));
    expect(sent).toContain('"degrees":21');
    expect(refusals()).toEqual([]);
  });
});

describe('outputs that do not fit the window', () => {
  const WINDOW_TOKENS = 20_000;
  const overflown = async () => {
    const { chat, effects } = toolChat(model, {
      environment: { MODEL_WINDOWS: JSON.stringify({ 'gemini-3.8-flash': WINDOW_TOKENS }) },
    });
    const conversationId = randomUUID();
    await say(chat, conversationId, 'Hello.');
    const text = 'call weather {"city":"Oslo"}\ncall large {"bytes":900000}';
    const end = await sayFailing(chat, conversationId, text);
    return { chat, effects, conversationId, ...end };
  };

  test('outputs that do not fit the window end the stream with the reason', async () => {
    const { chunks, reason } = await overflown();

    expect(reason).toBe('CONTEXT_WINDOW_WILL_OVERFLOW');
    expect(chunks.map(({ type }) => type)).toContain('tool-output-available');
    expect(JSON.stringify(chunks.find(({ type }) => type === 'error'))).toContain('does not fit');
  });

  test('outputs that do not fit the window promise no useless compaction', async () => {
    const { chat, chunks, conversationId } = await overflown();

    const { value: conversation } = (await readConversation(chat.store, conversationId)) ?? {};
    const kept = await storedTurn(chat, conversationId, 2);

    expect(conversation?.compactionRequests).toEqual({});
    expect(kept.error).toMatchObject({ retryable: false });
    expect(JSON.stringify(chunks)).not.toContain('being compacted');
  });

  test('outputs that do not fit the window stay in the transcript; the conversation continues', async () => {
    const { chat, conversationId, effects } = await overflown();
    const kept = await storedTurn(chat, conversationId, 2);

    const { turn } = await say(chat, conversationId, 'Something shorter.');

    expect(kept.state).toBe('failed');
    expect(responsesIn(kept.contents)).toMatchObject([{ response: { degrees: 21 } }, {}]);
    expect(turn).toMatchObject({ state: 'done', seq: 3 });
    expect(effects.get('t_2:0')).toBe(1);
    expect(refusals()).toEqual([]);
  });
});
