import { describe, expect, test } from 'vitest';
import {
  catchUp,
  isWorthRetrying,
  loadMessages,
  readError,
  retry,
  stopAnswer,
  transportOptions,
} from '#docs/clients/recipes/use-chat.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { LONG_ENOUGH_FOR_A_TITLE, titlingStreamer } from '#test/fakes/titling-streamer.ts';
import { overloaded } from '#test/support/model-down.ts';
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
import { withoutTold } from '#test/support/tools/without-told.ts';

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

function describeEndings({ start, halfway }: AiSdkWorld) {
  test('stops the answer on the server when it says so', async () => {
    const { server, backend, chat, sent, call, chatId } = await halfway();

    await stopAnswer(backend, chat);
    await sent;

    expect(call.signal.aborted).toBe(true);
    expect(textsOf(chat)).toEqual(['Hello', 'Half']);
    const [turn] = await readTurns(server.dependencies.store, chatId, [1]);
    expect(turn?.value.state).toBe('cancelled');
  });

  test('shows why a message was refused before the first byte', async () => {
    const { open, call, sent } = await halfway();
    const other = open();

    await other.sendMessage({ text: 'Me too' });

    expect(other.status).toBe('error');
    expect(readError(errorOf(other))).toMatchObject({
      code: 409,
      reason: 'TURN_IN_PROGRESS',
      message:
        'Another message of this conversation is being answered. Wait for it, then send this one again.',
    });
    call.end();
    await sent;
  });

  test('shows why an answer ended in the middle, and gets it when it tries again', async () => {
    const { server, chat, sent, call } = await halfway();

    call.fail(overloaded());
    await sent;

    expect(chat.status).toBe('error');
    expect(readError(errorOf(chat))).toEqual({ message: 'The model is overloaded.' });
    const again = catchUp(chat).then(() => retry(chat));
    await server.answer('Hello', 'At last.', 1);
    await again;
    expect(textsOf(chat)).toEqual(['Hello', 'At last.']);
  });

  test('is told that a filter stopped the answer, and the next message is answered without it', async () => {
    const { server, open } = await start();
    const chat = open();
    const blocked = chat.sendMessage({ text: 'Something bad' });
    (await server.callOf('Something bad')).stop('SAFETY');
    await blocked;
    expect(chat).toMatchObject({ status: 'ready', error: undefined });

    const sent = chat.sendMessage({ text: 'Hello' });
    await server.answer('Hello', 'Hi.');
    await sent;

    expect(textOf(chat.messages.at(-1))).toBe('Hi.');
    const asked = server.callsOf('Hello')[0]?.request.contents.flatMap(({ parts }) => parts);
    expect(asked?.map(({ text }) => text)).toEqual(['Hello']);
  });
}

const picture = {
  type: 'file' as const,
  mediaType: 'image/png',
  url: 'data:image/png;base64,aGVsbG8=',
};

function describeMessages({ start, answered, createChat }: AiSdkWorld) {
  test('has an answer made anew, and anew again', async () => {
    const { server, chat, chatId } = await answered();
    for (const [n, answer] of ['Good day.', 'Welcome.'].entries()) {
      const anew = chat.regenerate();
      await server.answer('Hello', answer, n + 1);
      await anew;
      expect(textsOf(chat)).toEqual(['Hello', answer]);
    }

    const turns = await readTurns(server.dependencies.store, chatId, [1, 2, 3]);
    expect(turns.map(({ value }) => value.replaces)).toEqual([undefined, 1, 2]);
  });

  test('changes a message, and changes it again', async () => {
    const { server, chat, chatId } = await answered();
    const messageId = chat.messages[0]?.id ?? '';
    for (const text of ['Hello, you', 'Hello, all of you']) {
      const changed = chat.sendMessage({ text, messageId });
      await server.answer(text, `Answer to ${text}.`);
      await changed;
      expect(textsOf(chat)).toEqual([text, `Answer to ${text}.`]);
    }

    const turns = await readTurns(server.dependencies.store, chatId, [1, 2, 3]);
    expect(turns.map(({ value }) => value.inContext)).toEqual([false, false, true]);
  });

  test('sends a picture', async () => {
    const { server, open } = await start();

    const sent = open().sendMessage({ text: 'What is it?', files: [picture] });
    await server.answer('What is it?', 'A picture.');
    await sent;

    const asked = server.callsOf('What is it?')[0]?.request.contents.at(-1);
    expect(asked && withoutTold(asked).parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } },
      { text: 'What is it?' },
    ]);
  });

  test('opens a chat again with its messages, and sends only the new one', async () => {
    const { server, backend, chatId, chat } = await answered();
    const anew = chat.regenerate();
    await server.answer('Hello', 'Good day.', 1);
    await anew;

    const messages = await loadMessages(backend, chatId);
    const transport = transportOptions(backend);
    const reopened = createChat({ id: chatId, messages, transport, onData: () => undefined });
    const sent = reopened.sendMessage({ text: 'And now?' });
    await server.answer('And now?', 'Nothing.');
    await sent;

    expect(textsOf(reopened)).toEqual(['Hello', 'Good day.', 'And now?', 'Nothing.']);
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
