import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bodyOf, clientOf, errorOfSdk, newText } from '#test/support/wire/openai.ts';
import { startToolServer } from '#test/support/wire/tool-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
const withTools = await startToolServer();
afterAll(() => Promise.all([server.stop(), withTools.stop()]));

const turnsOf = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      content: z.object({
        role: z.string().optional(),
        parts: z.array(z.object({ text: z.string() })),
      }),
    }),
  ),
});
const itemsOf = z.object({
  items: z.array(
    z.object({ content: z.object({ parts: z.array(z.object({ text: z.string() })) }) }),
  ),
});

/** A chat that keeps its own list of messages, as user interfaces on this protocol do. */
async function newChat() {
  const { client } = await clientOf(server);
  const conversationId = randomUUID();
  const ask = async (history: string[], text: string, more: object = {}) => {
    const before = history.flatMap((content) => [
      { role: 'user' as const, content },
      { role: 'assistant' as const, content: `About ${content}` },
    ]);
    const body = bodyOf(text, conversationId);
    const asked = client.chat.completions.create({
      ...body,
      messages: [...before, ...body.messages],
      metadata: { conversation_id: conversationId, ...more },
    });
    const known = server.callsOf(text).length;
    await server.answer(text, `About ${text}`, known);
    return asked;
  };
  const context = async () => {
    const shown = await server.call(`/v1/conversations/${conversationId}/context`);
    const { items } = itemsOf.parse(await shown.json());
    return items.flatMap(({ content }) => content.parts.map(({ text }) => text));
  };
  return { client, conversationId, ask, context };
}

describe('the history that a client of OpenAI sends', () => {
  test('a longer history is followed by the next message', async () => {
    const [one, two] = [newText(), newText()];
    const { ask, context } = await newChat();

    await ask([], one);
    await ask([one], two);

    expect(await context()).toEqual([one, `About ${one}`, two, `About ${two}`]);
  });

  test('a history that lacks the last messages is an edit in their place', async () => {
    const [one, two, three] = [newText(), newText(), newText()];
    const { ask, context } = await newChat();

    await ask([], one);
    await ask([one], two);
    await ask([one], three);

    expect(await context()).toEqual([one, `About ${one}`, three, `About ${three}`]);
  });

  test('an edit that is sent again is the same edit', async () => {
    const [one, two, three] = [newText(), newText(), newText()];
    const { ask, client, conversationId, context } = await newChat();
    await ask([], one);
    await ask([one], two);
    const edit = await ask([one], three);

    const again = await client.chat.completions.create({
      ...bodyOf(three, conversationId),
      messages: [
        { role: 'user', content: one },
        { role: 'assistant', content: `About ${one}` },
        { role: 'user', content: three },
      ],
    });

    expect(again.id).toBe(edit.id);
    expect(await context()).toEqual([one, `About ${one}`, three, `About ${three}`]);
  });

  test('a first message alone edits the first one of a client that tells its whole history', async () => {
    const [one, two] = [newText(), newText()];
    const { ask, context } = await newChat();

    await ask([], one);
    await ask([], two, { history: 'whole' });

    expect(await context()).toEqual([two, `About ${two}`]);
  });

  test('a message without any history comes after all', async () => {
    const [one, two] = [newText(), newText()];
    const { ask, context } = await newChat();

    await ask([], one);
    await ask([], two);

    expect(await context()).toEqual([one, `About ${one}`, two, `About ${two}`]);
  });
});

/** A server whose model answers every message with the same word, and a client that sends its newest messages. */
async function windowChat(size: number) {
  const answering = await startWireServer({
    overrides: {
      model: {
        async *stream() {
          yield await Promise.resolve({ parts: [{ text: 'Done.' }], finishReason: 'STOP' });
        },
      },
    },
  });
  onTestFinished(() => answering.stop());
  const conversationId = randomUUID();
  const list: OpenAI.ChatCompletionMessageParam[] = [];
  const { client } = await clientOf(answering);
  const say = async (content: string) => {
    list.push({ role: 'user', content });
    const messages = list.slice(-size);
    const headers = { 'X-Conversation-Id': conversationId };
    const system = { role: 'system' as const, content: `Message ${list.length}.` };
    const body = { model: 'recap', messages: [system, ...messages] };
    const completion = await client.chat.completions.create(body, { headers });
    list.push({ role: 'assistant', content: completion.choices[0]?.message.content ?? '' });
    return completion;
  };
  const turns = async () => {
    const path = `/v1/conversations/${conversationId}/context`;
    const { items } = turnsOf.parse(await (await answering.call(path)).json());
    return items.flatMap(({ kind, content }) =>
      kind === 'turn' && content.role === 'user' ? content.parts.map(({ text }) => text) : [],
    );
  };
  return { say, turns };
}

const switched = ['Lights on', 'Lights off', 'Lights on', 'Lights off', 'Lights on', 'Lights off'];

describe('a client of OpenAI that sends its newest messages alone', () => {
  test.each([1, 2, 3, 4, 100])('each message is a turn, in a window of %i', async (size) => {
    const { say, turns } = await windowChat(size);

    const answers = [];
    for (const text of switched) answers.push(await say(text));

    expect(await turns()).toEqual(switched);
    expect(
      answers.filter(
        (answer) => 'recap' in answer && JSON.stringify(answer.recap).includes('replayed'),
      ),
    ).toEqual([]);
  });

  test.each([1, 2, 4, 100])(
    'the same text over and over is a turn each time, in a window of %i',
    async (size) => {
      const { say, turns } = await windowChat(size);

      for (let n = 0; n < 4; n++) await say('yes');

      expect(await turns()).toEqual(['yes', 'yes', 'yes', 'yes']);
    },
  );

  test('it edits a message in its window', async () => {
    const [one, two, three, better] = [newText(), newText(), newText(), newText()];
    const { ask, context, client, conversationId } = await newChat();
    await ask([], one);
    await ask([one], two);
    await ask([one, two], three);

    const asked = client.chat.completions.create({
      ...bodyOf(better, conversationId),
      messages: [
        { role: 'assistant', content: `About ${two}` },
        { role: 'user', content: better },
      ],
    });
    await server.answer(better, `About ${better}`);
    await asked;

    expect(await context()).toEqual([one, two, better].flatMap((text) => [text, `About ${text}`]));
  });

  test('an older answer is made anew in its place', async () => {
    const [one, two] = [newText(), newText()];
    const { ask, context } = await newChat();
    await ask([], one);
    await ask([one], two);
    await ask([one, two], newText());

    await ask([one], two);

    expect(await context()).toEqual([one, `About ${one}`, two, `About ${two}`]);
    expect(server.callsOf(two)).toHaveLength(2);
  });
});

describe('a completion that was given before', () => {
  test('it is retrieved by its id as often as one likes', async () => {
    const { ask, client } = await newChat();
    const given = await ask([], newText());

    const again = await client.chat.completions.retrieve(given.id);

    expect(again.choices).toEqual(given.choices);
    expect(again).toMatchObject({ id: given.id, recap: { replayed: true } });
  });

  test('one that is not stored is told so', async () => {
    const { client } = await newChat();

    const error = await errorOfSdk(client.chat.completions.retrieve('chatcmpl-1'));

    expect(error).toMatchObject({ status: 404, code: 'COMPLETION_NOT_FOUND' });
  });
});

test('a client of OpenAI is told that a call waits for the user, and how it is allowed', async () => {
  const { client } = await clientOf(withTools);
  const asked = client.chat.completions.create({
    ...bodyOf('call transfer {"amount":5}\nthen\nDone.', randomUUID()),
  });

  const error = await errorOfSdk(asked);

  expect(error).toMatchObject({ status: 400, code: 'APPROVAL_NEEDED' });
  expect(error.message).toContain('turns/t_1/toolResults');
});
