import { describe, expect, test } from 'vitest';
import { transportOptions } from '#docs/clients/recipes/use-chat.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { eventually } from '#test/support/eventually.ts';
import { aiSdkWorld, errorOf, listens, textOf, textsOf } from '#test/support/wire/ai-sdk-world.ts';
import type { WireServer } from '#test/support/wire/wire-server.ts';
import { versions } from './versions.ts';

const turnOf = async (server: WireServer, chatId: string, seq = 1) =>
  (await readTurns(server.dependencies.store, chatId, [seq]))[0]?.value;

/** Waits until a turn has ended. */
const endOf = (server: WireServer, chatId: string) =>
  eventually('the turn ends', async () => {
    const turn = await turnOf(server, chatId);
    return turn?.state === 'running' ? undefined : turn;
  });

const leftAt = (server: WireServer, chatId: string) =>
  eventually('the reader has left', async () => (await turnOf(server, chatId))?.leftAt);

const AT_ONCE = { environment: { DISCONNECT_GRACE_MS: '0' } };

describe.each(versions)('useChat of ai %s that stops', (_, createChat) => {
  const { halfway } = aiSdkWorld(createChat);

  test('useChat’s stop ends the answer on the server, and its text stays', async () => {
    const { server, chat, chatId, call, sent } = await halfway(AT_ONCE);

    await chat.stop();
    await sent;

    const turn = await endOf(server, chatId);
    expect(turn).toMatchObject({ state: 'cancelled', contents: [{ parts: [{ text: 'Half' }] }] });
    expect(call.signal.aborted).toBe(true);
  });

  test('useChat that resumes in time keeps the answer alive', async () => {
    const { server, chat, chatId, call, sent } = await halfway();
    await chat.stop();
    await sent;
    await leftAt(server, chatId);

    const resumed = chat.resumeStream();
    await listens(chat);
    expect((await turnOf(server, chatId))?.leftAt).toBeUndefined();
    call.say(' and whole.');
    call.end();
    await resumed;

    expect(textsOf(chat)).toEqual(['Hello', 'Half and whole.']);
    expect((await endOf(server, chatId)).state).toBe('done');
  });

  test('useChat’s stop after it resumed ends the answer too', async () => {
    const { server, chat, chatId, call, sent, open } = await halfway({
      environment: { DISCONNECT_GRACE_MS: '100' },
    });
    const other = open();
    const resumed = other.resumeStream();
    await listens(other);
    await chat.stop();
    await sent;

    await other.stop();
    await resumed;

    expect((await endOf(server, chatId)).state).toBe('cancelled');
    expect(call.signal.aborted).toBe(true);
  });

  test('useChat’s stop in one tab leaves the answer to another that reads it', async () => {
    const { server, chat, chatId, call, sent, open } = await halfway(AT_ONCE);
    const other = open();
    const resumed = other.resumeStream();
    await listens(other);

    await chat.stop();
    await sent;
    call.say(' and whole.');
    call.end();
    await resumed;

    expect(textOf(other.messages.at(-1))).toBe('Half and whole.');
    expect((await endOf(server, chatId)).state).toBe('done');
  });

  test('useChat that asks for it has its answer go on when it leaves', async () => {
    const { server, chat, chatId, call, sent } = await halfway({
      ...AT_ONCE,
      transport: { onDisconnect: 'continue' },
    });

    await chat.stop();
    await sent;
    call.say(' and whole.');
    call.end();

    const turn = await endOf(server, chatId);
    expect(turn).toMatchObject({
      state: 'done',
      contents: [{ parts: [{ text: 'Half and whole.' }] }],
    });
  });

  test('useChat that sends another message after its stop need not wait', async () => {
    const { server, chat, chatId, call, sent } = await halfway();
    await chat.stop();
    await sent;
    await leftAt(server, chatId);

    const next = chat.sendMessage({ text: 'Something else' });
    await server.answer('Something else', 'Gladly.');
    await next;

    expect(textsOf(chat)).toEqual(['Hello', 'Half', 'Something else', 'Gladly.']);
    expect(call.signal.aborted).toBe(true);
    expect((await turnOf(server, chatId))?.state).toBe('cancelled');
  });
});

test.each(versions)(
  'useChat of ai %s is told of a wish for a disconnect that is none',
  async (_, createChat) => {
    const { start } = aiSdkWorld(createChat);
    const { backend, chatId } = await start();
    const { api, headers } = transportOptions(backend);
    const transport = {
      api,
      headers: async () => ({ ...(await headers()), 'x-on-disconnect': 'pause' }),
    };
    const chat = createChat({ id: chatId, messages: [], transport, onData: () => undefined });

    await chat.sendMessage({ text: 'Hello' });

    expect(errorOf(chat).message).toContain('`X-On-Disconnect` must be `stop` or `continue`');
  },
);
