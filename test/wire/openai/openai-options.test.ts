import { randomUUID } from 'node:crypto';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Content } from '#shared/conversation/documents/content.ts';
import { eventually } from '#test/support/eventually.ts';
import {
  bodyOf,
  clientOf,
  errorOfSdk,
  newText,
  transcriptOf,
  usage,
} from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer({
  environment: { CLIENT_WRITABLE: 'systemInstruction,tools' },
});
const closed = await startWireServer();
afterAll(() => Promise.all([server.stop(), closed.stop()]));

const isRepair = (contents: readonly Content[], text: string) =>
  JSON.stringify(contents).includes(text) && JSON.stringify(contents.at(-1)).includes('#/metres');
const boat = z.object({ name: z.string(), metres: z.number() });

describe('how an answer of OpenAI’s SDK is to be made', () => {
  test('the model is told it', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.chat.completions.create({
      ...bodyOf(text),
      temperature: 0.3,
      top_p: 0.8,
      seed: 11,
      stop: ['END'],
      reasoning_effort: 'low',
      max_tokens: 70,
      tool_choice: 'auto',
    });
    await server.answer(text, 'Fine.');
    await asked;

    expect(server.callsOf(text)[0]?.request).toMatchObject({
      sampling: {
        temperature: 0.3,
        topP: 0.8,
        seed: 11,
        stopSequences: ['END'],
        thinkingLevel: 'low',
      },
      maxOutputTokens: 70,
    });
  });

  test('its parse helper gets what the schema says', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.chat.completions.parse({
      ...bodyOf(text),
      response_format: zodResponseFormat(boat, 'boat'),
    });
    await server.answer(text, '{"name":"Ida","metres":"nine"}');
    const repair = await eventually('the second call', () =>
      Promise.resolve(server.calls.find(({ request }) => isRepair(request.contents, text))),
    );
    repair.say('{"name":"Ida","metres":9}');
    repair.end(usage);
    const completion = await asked;

    expect(completion.choices[0]?.message.parsed).toEqual({ name: 'Ida', metres: 9 });
  });

  test('another temperature in the same place is another message, not a reused key', async () => {
    const { client } = await clientOf(server);
    const conversationId = randomUUID();
    const history = { role: 'user' as const, content: newText() };
    const answer = { role: 'assistant' as const, content: 'Yes.' };
    const text = newText();
    const ask = async (temperature: number, call: number) => {
      const asked = client.chat.completions.create({
        ...bodyOf(text, conversationId),
        messages: [history, answer, { role: 'user', content: text }],
        temperature,
      });
      await server.answer(text, `Answer ${call}.`, call);
      return (await asked).choices[0]?.message.content;
    };

    expect([await ask(0, 0), await ask(1, 1)]).toEqual(['Answer 0.', 'Answer 1.']);
  });

  test('fields that change nothing of an answer are named in it, and an instruction that the deployment keeps to itself', async () => {
    const { client } = await clientOf(closed);
    const text = newText();
    const asked = client.chat.completions.create({
      ...bodyOf(text),
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: text },
      ],
      user: 'u',
      service_tier: 'auto',
      verbosity: 'low',
      store: false,
    });
    await closed.answer(text, 'Fine.');

    expect(await asked).toMatchObject({
      ignored: ['user', 'service_tier', 'verbosity', 'store', 'messages[0]'],
    });
  });

  test('the values by which a client asks for what is done anyway are no reason to tell or refuse', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.chat.completions.create({
      ...bodyOf(text),
      logprobs: false,
      presence_penalty: 0,
      frequency_penalty: 0,
      parallel_tool_calls: true,
      store: true,
      verbosity: 'medium',
      modalities: ['text'],
    });
    await server.answer(text, 'Fine.');

    expect(await asked).not.toHaveProperty('ignored');
  });

  test('the system message becomes the instruction of the conversation where clients may write it', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const conversationId = randomUUID();
    const asked = client.chat.completions.create({
      ...bodyOf(text, conversationId),
      messages: [
        { role: 'system', content: 'Speak like a pirate.' },
        { role: 'user', content: text },
      ],
    });
    await server.answer(text, 'Arr.');

    expect(await asked).not.toHaveProperty('ignored');
    expect(server.callsOf(text)[0]?.request.systemInstruction).toContain('pirate');
    expect(await transcriptOf(server, conversationId)).toEqual([
      ['user', text],
      ['model', 'Arr.'],
    ]);
  });
});

describe('functions of OpenAI’s SDK', () => {
  test('a call that is demanded is demanded of the model', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.chat.completions.create({
      ...bodyOf(text),
      tools: [{ type: 'function', function: { name: 'locate' } }],
      tool_choice: { type: 'function', function: { name: 'locate' } },
    });
    await server.answer(text, 'Fine.');
    await asked;

    expect(server.callsOf(text)[0]?.request).toMatchObject({
      tools: [{ name: 'locate' }],
      toolChoice: { name: 'locate' },
    });
  });

  test('functions are refused by name where the deployment lets nobody declare them', async () => {
    const { client } = await clientOf(closed);
    const asked = client.chat.completions.create({
      ...bodyOf('Hi.'),
      tools: [{ type: 'function', function: { name: 'locate' } }],
    });

    expect(await errorOfSdk(asked)).toMatchObject({ code: 'FIELD_NOT_WRITABLE', param: 'tools' });
  });

  test('a choice of a function that is not declared is refused', async () => {
    const { client } = await clientOf(server);
    const asked = client.chat.completions.create({
      ...bodyOf('Hi.'),
      tools: [{ type: 'function', function: { name: 'locate' } }],
      tool_choice: { type: 'function', function: { name: 'choose' } },
    });

    expect(await errorOfSdk(asked)).toMatchObject({ code: 'BAD_FIELD', param: 'tool_choice' });
  });
});

describe('models of OpenAI’s SDK', () => {
  test('a model that the list names can be retrieved', async () => {
    const { client } = await clientOf(server);
    const [model] = (await client.models.list()).data;

    expect(await client.models.retrieve(model?.id ?? '')).toEqual(model);
  });

  test('a model that there is not is told with those that there are', async () => {
    const { client } = await clientOf(server);
    const [model] = (await client.models.list()).data;

    const error = await errorOfSdk(client.models.retrieve('gpt-4o'));

    expect(error).toMatchObject({ status: 404, code: 'MODEL_NOT_FOUND' });
    expect(error.message).toContain(model?.id);
  });
});
