import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { retry, transportOptions } from '#docs/clients/recipes/use-chat.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { eventually } from '#test/support/eventually.ts';
import { startCountingProxy, startLosingProxy } from '#test/support/wire/broken-proxy.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { versions } from './versions.ts';

async function start() {
  const server = await startWireServer({ collaborators: { heartbeatMs: 20 } });
  onTestFinished(() => server.stop());
  const token = async () => (await server.authorization()).replace('Bearer ', '');
  return { server, token };
}

describe.each(versions)('useChat of ai %s', (_, createChat) => {
  test.each(['ends', 'falls silent'] as const)(
    'useChat retries a stream that %s before the answer is whole',
    async (then) => {
      const { server, token } = await start();
      const proxy = await startLosingProxy(server.url, then);
      onTestFinished(() => proxy.close());
      const backend = { baseUrl: proxy.url, getIdToken: token };
      const transport = transportOptions(backend, { onDisconnect: 'continue', silenceMs: 300 });
      const id = randomUUID();
      const chat = createChat({ id, messages: [], transport, onData: () => undefined });

      await chat.sendMessage({ text: 'Hello' });
      expect(chat.error).toBeInstanceOf(TypeError);
      const retried = retry(chat, { firstDelayMs: 1 });
      await server.answer('Hello', 'Hi.');
      await retried;

      expect(chat).toMatchObject({ status: 'ready', error: undefined });
      expect(chat.messages.at(-1)?.parts).toMatchObject([{ type: 'text', text: 'Hi.' }]);
      expect(server.callsOf('Hello')).toHaveLength(1);
    },
  );

  test('useChat keeps a quiet stream on which heartbeats come, and renews an expired token', async () => {
    const { server, token } = await start();
    const expired = {
      ...idTokenClaims(server.project, 'alice'),
      exp: Math.floor(Date.now() / 1_000) - 60,
    };
    const getIdToken = (renew?: boolean) => (renew === true ? token() : server.keys.sign(expired));
    const proxy = await startCountingProxy(server.url);
    onTestFinished(() => proxy.close());
    const backend = { baseUrl: proxy.url, getIdToken };
    const transport = transportOptions(backend, { silenceMs: 300 });
    const id = randomUUID();
    const chat = createChat({ id, messages: [], transport, onData: () => undefined });

    const sent = chat.sendMessage({ text: 'Hello' });
    const call = await server.callOf('Hello');
    // Forty heartbeats take more than twice the silence that is borne.
    const seen = proxy.countPieces();
    await eventually('forty heartbeats', () =>
      Promise.resolve(proxy.countPieces() >= seen + 40 ? true : undefined),
    );
    call.say('Hi.');
    call.end();
    await sent;

    expect(chat.messages.at(-1)?.parts).toMatchObject([{ type: 'text', text: 'Hi.' }]);
  });
});
