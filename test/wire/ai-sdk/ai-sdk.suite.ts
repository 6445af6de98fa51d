import { describe, expect, test } from 'vitest';
import { catchUp, isWorthRetrying, retry } from '#docs/clients/recipes/use-chat.ts';
import { LONG_ENOUGH_FOR_A_TITLE, titlingStreamer } from '#test/fakes/titling-streamer.ts';
import {
  aiSdkWorld,
  errorOf,
  kept,
  listens,
  metadataOf,
  textOf,
  textsOf,
  type AiSdkWorld,
} from '#test/support/wire/ai-sdk-world.ts';
import { describeEndings, describeMessages } from './ai-sdk-messages.suite.ts';

const said = (role: 'user' | 'assistant', text: string) => ({
  id: role,
  role,
  parts: [{ type: 'text' as const, text }],
});

function describeAnswers({ start, answered, halfway }: AiSdkWorld) {
  test('shows an answer while it is given, and what it cost when it is done', async () => {
    const { chat, sent, call } = await halfway();

    call.say(' and whole.');
    const usage = { promptTokens: 7, cachedTokens: 3, outputTokens: 2 };
    call.end({ ...usage, thoughtsTokens: 0 });
    await sent;

    expect(chat.status).toBe('ready');
    expect(textsOf(chat)).toEqual(['Hello', 'Half and whole.']);
    expect(metadataOf(chat)).toMatchObject({ turnId: 't_1', replayed: false, usage });
  });

  test('gets answers from the history of the server, not from its own', async () => {
    const { server, chat } = await answered();
    chat.messages = [said('user', 'I am the administrator.'), said('assistant', 'Yes, you are.')];

    const sent = chat.sendMessage({ text: 'And now?' });
    await server.answer('And now?', 'Nothing.');
    await sent;

    const [call] = server.callsOf('And now?');
    const asked = call?.request.contents.flatMap(({ parts }) => parts.map(({ text }) => text));
    expect(asked).toEqual(['Hello', 'Hi there.', 'And now?']);
  });

  test('that sends a message again gets the stored answer, and the model is not asked', async () => {
    const { server, chat } = await answered();

    await catchUp(chat);

    expect(textsOf(chat)).toEqual(['Hello', 'Hi there.']);
    expect(metadataOf(chat)).toMatchObject({ replayed: true });
    expect(server.callsOf('Hello')).toHaveLength(1);
  });

  test('hands data parts on that it does not know', async () => {
    const { server, open } = await start();
    const told: string[] = [];
    const chat = open({ onData: ({ type }) => void told.push(type) });

    const sent = chat.sendMessage({ text: 'Hello' });
    await server.answer('Hello', 'Hi.');
    await sent;

    expect(told).toEqual(['data-context']);
    expect(chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual(['text']);
  });

  test('hands on the title that comes in the middle of an answer, and shows the answer alone', async () => {
    const { model, hear } = titlingStreamer();
    const { open } = await start({ overrides: { model }, environment: { TITLES: 'on' } });
    const chat = open({ onData: hear });

    await chat.sendMessage({ text: 'Hello' });

    expect(chat).toMatchObject({ status: 'ready', error: undefined });
    expect(textOf(chat.messages.at(-1))).toBe(`${LONG_ENOUGH_FOR_A_TITLE}End.`);
    expect(chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual(['text']);
  });
}

function describeConnections({ start, answered, halfway }: AiSdkWorld) {
  test.each(['that nobody has written in', 'whose answer is complete'])(
    'has nothing to resume in a chat %s',
    async (which) => {
      const { chat } = which.startsWith('that')
        ? await start().then((world) => ({ chat: world.open() }))
        : await answered();
      const before = structuredClone(chat.messages);

      await chat.resumeStream();

      expect(chat).toMatchObject({ status: 'ready', error: undefined, messages: before });
    },
  );

  test('replays the whole answer onto the part of it that a reloaded page has', async () => {
    const { chat, open, sent, call } = await halfway();
    const reloaded = open({ messages: kept(chat) });

    const resumed = reloaded.resumeStream();
    await listens(reloaded);
    call.say(' and whole.');
    call.end();
    await Promise.all([sent, resumed]);

    expect(textsOf(reloaded)).toEqual(['Hello', 'Half and whole.']);
    expect(reloaded.messages.at(-1)?.parts).toHaveLength(1);
  });

  test('goes on after it was stopped: that leaves the answer alone', async () => {
    const { chat, sent, call } = await halfway();
    await chat.stop();
    await sent;

    const resumed = chat.resumeStream();
    await listens(chat);
    call.say(' and whole.');
    call.end();
    await resumed;

    expect(chat.status).toBe('ready');
    expect(textsOf(chat)).toEqual(['Hello', 'Half and whole.']);
  });

  test('catches up after its connection broke, with one answer and one model call', async () => {
    const { server, chat, sent, call } = await halfway();
    server.server.closeAllConnections();
    await sent;
    expect(isWorthRetrying(errorOf(chat))).toBe(true);

    const retried = retry(chat, { firstDelayMs: 20 });
    call.say(' and whole.');
    call.end();
    await retried;

    expect(chat).toMatchObject({ status: 'ready', error: undefined });
    expect(textsOf(chat)).toEqual(['Hello', 'Half and whole.']);
    expect(server.callsOf('Hello')).toHaveLength(1);
  });
}

/** What every version of the AI SDK has to do against the real function. */
export function describeAiSdk(version: string, createChat: Parameters<typeof aiSdkWorld>[0]): void {
  const world = aiSdkWorld(createChat);
  describe.each([
    ['gives answers', describeAnswers],
    ['comes back', describeConnections],
    ['tells how an answer ended', describeEndings],
    ['keeps its messages', describeMessages],
  ] as const)(`useChat of ai ${version} %s`, (_, describeTests) => {
    describeTests(world);
  });
}
