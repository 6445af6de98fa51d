import {
  catchUp,
  readError,
  retry,
  stopAnswer,
  transportOptions,
} from '#docs/clients/recipes/use-chat.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { eventually } from '#test/support/eventually.ts';
import { overloaded } from '#test/support/model-down.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import { startCountingProxy, startLosingProxy } from '#test/support/wire/broken-proxy.ts';
import {
  answered,
  backendOf,
  errorOf,
  halfway,
  listens,
  partsOf,
  startChats,
  textOf,
  textsOf,
  until,
  versions,
} from '#test/support/wire/use-chat.ts';
import type { WireServer } from '#test/support/wire/wire-server.ts';
import { describe, expect, onTestFinished, test } from 'vitest';

const LONG_ENOUGH_FOR_A_TITLE = 'A long answer about boats. '.repeat(20);

/** A model whose answer ends when the client has heard of the title of its conversation. */
function titlingStreamer() {
  const heard = Promise.withResolvers<void>();
  const model: ModelStreamer = {
    async *stream({ role }) {
      if (role === 'utility_title') {
        yield { parts: [{ text: 'Boats' }], finishReason: 'STOP' };
        return;
      }
      yield { parts: [{ text: LONG_ENOUGH_FOR_A_TITLE }] };
      await heard.promise;
      yield { parts: [{ text: 'End.' }], finishReason: 'STOP' };
    },
  };
  const hear = ({ type }: { type: string }) => {
    if (type === 'data-title') heard.resolve();
  };
  return { model, hear };
}

/* `AbstractChat` of `useChat` with the recipe; what apps do with it step by step is tried in the table of client libraries. */

const quick = { collaborators: { heartbeatMs: 20 } };

describe.each(versions)('useChat of ai %i', (version) => {
  test('useChat shows an answer while it is given, its cost at the end, and passes on data parts', async () => {
    const told: string[] = [];
    const { server, open } = await startChats(version);
    const chat = open({ onData: ({ type }) => void told.push(type) });
    const sent = chat.sendMessage({ text: 'Hello' });
    const call = await server.callOf('Hello');
    call.say('Half');
    await until('the beginning', () => textsOf(chat)[1] === 'Half');
    call.say(' and whole.');
    call.end({ promptTokens: 7, cachedTokens: 3, outputTokens: 2, thoughtsTokens: 0 });
    await sent;

    expect(chat).toMatchObject({ status: 'ready', error: undefined });
    expect(partsOf(chat)).toMatchObject([{ type: 'text', text: 'Half and whole.' }]);
    expect(told).toEqual(['data-context']);
    expect(chat.messages.at(-1)?.metadata).toMatchObject({
      turnId: 't_1',
      replayed: false,
      usage: { promptTokens: 7, cachedTokens: 3, outputTokens: 2 },
    });
  });

  test('useChat passes on a title in mid-answer and shows the answer alone', async () => {
    const { model, hear } = titlingStreamer();
    const settings = { overrides: { model }, environment: { TITLES: 'on' } };
    const { open } = await startChats(version, settings);
    const chat = open({ onData: hear });

    await chat.sendMessage({ text: 'Hello' });

    expect(chat).toMatchObject({ status: 'ready', error: undefined });
    expect(partsOf(chat)).toMatchObject([{ type: 'text', text: `${LONG_ENOUGH_FOR_A_TITLE}End.` }]);
  });

  test('useChat shows the pages that an answer rests on, and what Google wants shown', async () => {
    const { server, open } = await startChats(version, { environment: { GROUNDING: 'search' } });
    const chat = open();
    const sent = chat.sendMessage({ text: 'Who won?' });
    await groundedAnswer(server, 'Who won?');
    await sent;

    expect(chat.error).toBeUndefined();
    expect(partsOf(chat).filter(({ type }) => type !== 'text')).toMatchObject([
      { type: 'source-url', sourceId: 's1.1', url: UEFA, title: 'uefa.com' },
      { type: 'source-url', sourceId: 's1.2', url: EXAMPLE, title: 'example.org' },
      { type: 'data-searched', data: { queries: ['who won Euro 2024'] } },
    ]);
  });

  test.each(['ends', 'falls silent'] as const)(
    'useChat retries a stream that %s before the answer is whole',
    async (then) => {
      const { server, open } = await startChats(version, quick);
      const proxy = await startLosingProxy(server.url, then);
      onTestFinished(() => proxy.close());
      const wishes = { onDisconnect: 'continue', silenceMs: 300 } as const;
      const chat = open({ transport: transportOptions(backendOf(server, proxy.url), wishes) });

      await chat.sendMessage({ text: 'Hello' });
      expect(chat.error).toBeInstanceOf(TypeError);
      const retried = retry(chat, { firstDelayMs: 1 });
      await server.answer('Hello', 'Hi.');
      await retried;

      expect(chat).toMatchObject({ status: 'ready', error: undefined });
      expect(partsOf(chat)).toMatchObject([{ type: 'text', text: 'Hi.' }]);
      expect(server.callsOf('Hello')).toHaveLength(1);
    },
  );

  test('useChat shows why an answer broke off, and gets it when it retries', async () => {
    const { server, chat, sent, call } = await halfway(version);

    call.fail(overloaded());
    await sent;

    expect(chat.status).toBe('error');
    expect(readError(errorOf(chat))).toEqual({ message: 'The model is overloaded.' });
    const again = catchUp(chat).then(() => retry(chat));
    await server.answer('Hello', 'At last.', 1);
    await again;
    expect(textsOf(chat)).toEqual(['Hello', 'At last.']);
  });
});

describe('a connection', () => {
  test('useChat keeps a quiet stream on which heartbeats come, and renews an expired token', async () => {
    const { server, backend, open } = await startChats(7, quick);
    const past = Math.floor(Date.now() / 1_000) - 60;
    const expired = { ...idTokenClaims(server.project, 'alice'), exp: past };
    const proxy = await startCountingProxy(server.url);
    onTestFinished(() => proxy.close());
    const getIdToken = (renew?: boolean) =>
      renew === true ? backend.getIdToken() : server.keys.sign(expired);
    const transport = transportOptions({ baseUrl: proxy.url, getIdToken }, { silenceMs: 300 });
    const chat = open({ transport });

    const sent = chat.sendMessage({ text: 'Hello' });
    const call = await server.callOf('Hello');
    // Forty heartbeats take more than twice the silence that is borne.
    const seen = proxy.countPieces();
    await until('forty heartbeats', () => proxy.countPieces() >= seen + 40);
    call.say('Hi.');
    call.end();
    await sent;

    expect(partsOf(chat)).toMatchObject([{ type: 'text', text: 'Hi.' }]);
  });

  test.each([true, false])(
    'useChat has nothing to resume in a chat whose answer is complete (%s) or that nobody has written in',
    async (isAnswered) => {
      const chat = isAnswered ? (await answered()).chat : (await startChats(7)).open();
      const before = structuredClone(chat.messages);

      await chat.resumeStream();

      expect(chat).toMatchObject({ status: 'ready', error: undefined, messages: before });
    },
  );
});

describe('useChat that stops', () => {
  const turnOf = async (server: WireServer, chatId: string) =>
    (await readTurns(server.dependencies.store, chatId, [1]))[0]?.value;

  /** Waits until a turn has ended. */
  const endOf = (server: WireServer, chatId: string) =>
    eventually('the turn ends', async () => {
      const turn = await turnOf(server, chatId);
      return turn?.state === 'running' ? undefined : turn;
    });

  const AT_ONCE = { environment: { DISCONNECT_GRACE_MS: '0' } };

  test('useChat stops the answer on the server through the recipe', async () => {
    const { server, backend, chat, sent, call, id } = await halfway();

    await stopAnswer(backend, chat);
    await sent;

    expect(call.signal.aborted).toBe(true);
    expect(textsOf(chat)).toEqual(['Hello', 'Half']);
    expect((await turnOf(server, id))?.state).toBe('cancelled');
  });

  test('useChat that asks for it has its answer go on when it leaves', async () => {
    const wishes = { onDisconnect: 'continue' } as const;
    const { server, chat, id, call, sent } = await halfway(7, { ...AT_ONCE, wishes });

    await chat.stop();
    await sent;
    call.say(' and whole.');
    call.end();

    const contents = [{ parts: [{ text: 'Half and whole.' }] }];
    expect(await endOf(server, id)).toMatchObject({ state: 'done', contents });
  });

  const left = (server: WireServer, chatId: string) =>
    eventually('the reader has left', async () => (await turnOf(server, chatId))?.leftAt);

  test('useChat that resumes in time keeps the answer alive', async () => {
    const { server, chat, id, call, sent } = await halfway();
    await chat.stop();
    await sent;
    await left(server, id);

    const resumed = chat.resumeStream();
    await listens(chat);
    expect((await turnOf(server, id))?.leftAt).toBeUndefined();
    call.say(' and whole.');
    call.end();
    await resumed;

    expect(textsOf(chat)).toEqual(['Hello', 'Half and whole.']);
    expect((await endOf(server, id))?.state).toBe('done');
  });

  test('useChat’s stop in one tab leaves the answer to another that reads it', async () => {
    const { server, chat, id, call, sent, open } = await halfway(7, AT_ONCE);
    const other = open();
    const resumed = other.resumeStream();
    await listens(other);

    await chat.stop();
    await sent;
    call.say(' and whole.');
    call.end();
    await resumed;

    expect(textOf(other.messages.at(-1))).toBe('Half and whole.');
    expect((await endOf(server, id))?.state).toBe('done');
  });
});
