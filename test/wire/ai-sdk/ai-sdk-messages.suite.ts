import { expect, test } from 'vitest';
import {
  catchUp,
  loadMessages,
  readError,
  retry,
  stopAnswer,
  transportOptions,
} from '#docs/clients/recipes/use-chat.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { overloaded } from '#test/support/model-down.ts';
import { errorOf, textOf, textsOf, type AiSdkWorld } from '#test/support/wire/ai-sdk-world.ts';
import { withoutTold } from '#test/support/tools/without-told.ts';

/** How useChat learns how an answer ended. */
export function describeEndings({ start, halfway }: AiSdkWorld) {
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

/** What becomes of the messages of useChat. */
export function describeMessages({ start, answered, createChat }: AiSdkWorld) {
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
