import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';

/** A chat whose model reports these tokens: 2 dollars a million read, 1 cached, 4 written. */
async function chatWith(environment: Record<string, string>) {
  const usage = { promptTokens: 1_000, cachedTokens: 400, outputTokens: 10, thoughtsTokens: 5 };
  const chat = await startChatServer({
    overrides: { model: scriptedStreamer(textAnswer('Fine.', usage)).model },
    environment: {
      MODEL: 'house-model',
      MODEL_WINDOWS: '{"house-model":1048576}',
      ...environment,
    },
  });
  onTestFinished(() => chat.stop());
  return chat;
}

const MODEL_PRICES = JSON.stringify({ 'house-model': { input: 2, cached: 1, output: 4 } });
const COST_MICROS = 600 * 2 + 400 * 1 + 15 * 4;

const body = () => ({ message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] } });
const path = () => `/v1/conversations/${randomUUID()}/messages`;

describe('what an answer cost', () => {
  test('an answer’s cost is in its usage, thoughts included, and in every replay', async () => {
    const chat = await chatWith({ MODEL_PRICES });
    const to = path();
    const sent = body();

    const first: unknown = await (await chat.call(to, { body: sent })).json();
    const again: unknown = await (await chat.call(to, { body: sent })).json();

    expect(first).toMatchObject({ usage: { promptTokens: 1_000, costMicros: COST_MICROS } });
    expect(again).toMatchObject({ replayed: true, usage: { costMicros: COST_MICROS } });
  });

  test('an answer’s cost is logged with its tokens and time to the first word', async () => {
    const chat = await chatWith({ MODEL_PRICES });

    await chat.call(path(), { body: body() });

    const line = chat.logs.find(({ event }) => event === 'turn_finished');
    expect(line?.fields).toMatchObject({
      state: 'done',
      promptTokens: 1_000,
      cachedTokens: 400,
      outputTokens: 10,
      costMicros: COST_MICROS,
    });
    expect(line?.fields['firstTokenMs']).toBeGreaterThanOrEqual(0);
  });

  test('an answer’s cost is in the last event of the stream', async () => {
    const chat = await chatWith({ MODEL_PRICES });

    const headers = { accept: 'text/event-stream' };
    const text = await (await chat.call(path(), { body: body(), headers })).text();

    expect(text).toContain(`"costMicros":${COST_MICROS}`);
  });

  test('an answer’s cost is the highest price where the price is unknown', async () => {
    const dearest = { input: 1_000, cached: 1_000, output: 1_000 };
    const chat = await chatWith({ MODEL_PRICES: JSON.stringify({ 'dear-model': dearest }) });

    const answered: unknown = await (await chat.call(path(), { body: body() })).json();

    expect(answered).toMatchObject({ usage: { promptTokens: 1_000, costMicros: 1_015_000 } });
  });
});
