import { afterAll, describe, expect, test } from 'vitest';
import { loadMessages, runOnce, transportOptions } from '#docs/clients/recipes/use-chat.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import { versions, type ToolChat } from './versions.ts';

const server = await startToolServer();
afterAll(() => server.stop());

const backend = {
  baseUrl: server.url,
  getIdToken: async () => (await server.authorization()).replace('Bearer ', ''),
};

const partsOf = (chat: ToolChat) => chat.messages.at(-1)?.parts ?? [];

const isDone = (chat: ToolChat, text: string) =>
  eventually(`the chat ends with ${text}`, () =>
    Promise.resolve((chat.status === 'ready' && partsOf(chat).at(-1)?.text === text) || undefined),
  );

const text = (said: string) => ({ type: 'text', text: said, state: 'done' });
const ASKING = 'Let me see.\ncall locate {"question":"where"}\nthen\nYou are in Oslo.';
const locate = { tool: 'locate', toolCallId: 't_1_c0' };

describe.each(versions)('useChat of ai %s with tools', (_, createChat) => {
  async function open(transport: 'recipe' | 'default' = 'recipe', chatId?: string) {
    const id = chatId ?? (await conversationWithTools(server));
    const { api, headers, ...short } = transportOptions(backend);
    const chat = createChat({
      id,
      messages: [],
      onData: () => undefined,
      transport: { api, headers, ...(transport === 'recipe' && short) },
    });
    return { id, chat };
  }

  test('useChat shows server tool calls in their place between the texts', async () => {
    const { chat } = await open();

    await chat.sendMessage({
      text: 'One.\ncall weather {"city":"Oslo"}\nthen\nTwo.\ncall broken\nthen\nThree.',
    });

    expect(partsOf(chat)).toMatchObject([
      text('One.'),
      {
        type: 'dynamic-tool',
        toolName: 'weather',
        input: { city: 'Oslo' },
        state: 'output-available',
        output: { city: 'Oslo', degrees: 21 },
      },
      { type: 'step-start' },
      text('Two.'),
      { type: 'dynamic-tool', toolName: 'broken', state: 'output-error' },
      { type: 'step-start' },
      text('Three.'),
    ]);
    expect(chat).toMatchObject({ status: 'ready', error: undefined });
  });

  test.each([['recipe'], ['default']] as const)(
    'useChat answers an app call, and the same message continues (%s transport)',
    async (transport) => {
      const { chat } = await open(transport);
      await chat.sendMessage({ text: ASKING });
      expect(partsOf(chat).at(-1)).toMatchObject({
        toolCallId: 't_1_c0',
        state: 'input-available',
      });

      await chat.addToolOutput({ ...locate, output: { city: 'Oslo' } });
      await isDone(chat, 'You are in Oslo.');

      expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expect(chat.messages.at(-1)?.id).toBe('m_1');
      expect(partsOf(chat)).toMatchObject([
        text('Let me see.'),
        { type: 'dynamic-tool', state: 'output-available', output: { city: 'Oslo' } },
        { type: 'step-start' },
        text('You are in Oslo.'),
      ]);
    },
  );

  test('useChat answers several calls of one message in turn, each output once', async () => {
    const { chat } = await open('default');
    await chat.sendMessage({ text: 'call locate\nthen\ncall choose\nthen\nDone so.' });
    await chat.addToolOutput({ ...locate, output: 'here' });
    await eventually('the second call', () =>
      Promise.resolve((chat.status === 'ready' && partsOf(chat).length === 3) || undefined),
    );

    const errorText = 'The user does not want to.';
    await chat.addToolOutput({
      tool: 'choose',
      toolCallId: 't_1_c1',
      state: 'output-error',
      errorText,
    });
    await isDone(chat, 'Done so.');

    expect(partsOf(chat)).toMatchObject([
      { toolCallId: 't_1_c0', output: 'here' },
      { type: 'step-start' },
      { toolCallId: 't_1_c1', state: 'output-error', errorText },
      { type: 'step-start' },
      text('Done so.'),
    ]);
  });

  test('useChat resumes a waiting answer on another device and answers it there', async () => {
    const { id, chat } = await open();
    await chat.sendMessage({ text: ASKING });
    const { chat: other } = await open('recipe', id);

    await other.resumeStream();
    expect(partsOf(other)).toMatchObject([
      text('Let me see.'),
      { type: 'dynamic-tool', toolCallId: 't_1_c0', state: 'input-available' },
    ]);
    await other.addToolOutput({ ...locate, output: { city: 'Oslo' } });
    await isDone(other, 'You are in Oslo.');

    expect(partsOf(other).filter(({ type }) => type === 'text')).toHaveLength(2);
  });

  test.each([
    ['at once', { isLater: false, city: /^(Oslo|Bergen)$/ }],
    ['one after the other', { isLater: true, city: /^Oslo$/ }],
  ])('useChat in two tabs may answer the same call: %s', async (_when, { isLater, city }) => {
    const { id, chat } = await open();
    await chat.sendMessage({ text: ASKING });
    const { chat: other } = await open('recipe', id);
    await other.resumeStream();

    const first = chat.addToolOutput({ ...locate, output: { city: 'Oslo' } });
    if (isLater) await isDone(chat, 'You are in Oslo.');
    await Promise.all([first, other.addToolOutput({ ...locate, output: { city: 'Bergen' } })]);
    await Promise.all([isDone(chat, 'You are in Oslo.'), isDone(other, 'You are in Oslo.')]);

    for (const tab of [chat, other]) expect(tab).toMatchObject({ error: undefined });
    const stored = await loadMessages(backend, id);
    const output = { city: expect.stringMatching(city) };
    expect(stored[1]?.parts[1]).toMatchObject({ state: 'output-available', output });
    expect(partsOf(other)[1]).toMatchObject({ state: 'output-available', output });
  });

  test('useChat’s tool runs in one tab only, through the recipe', async () => {
    const { id, chat } = await open();
    await chat.sendMessage({ text: ASKING });
    const { chat: other } = await open('recipe', id);
    await other.resumeStream();
    const ran: string[] = [];
    const runIn = (tab: ToolChat, name: string) =>
      runOnce(id, locate.toolCallId, async () => {
        ran.push(name);
        await tab.addToolOutput({ ...locate, output: { city: 'Oslo' } });
      });

    const claims = await Promise.all([runIn(chat, 'first tab'), runIn(other, 'second tab')]);
    await isDone(chat, 'You are in Oslo.');

    expect(claims).toEqual([true, false]);
    expect(await runIn(other, 'second tab')).toBe(false);
    expect(ran).toEqual(['first tab']);
  });

  test('useChat does not resend outputs for ever that nobody waits for', async () => {
    const { id, chat } = await open();
    await chat.sendMessage({ text: ASKING });
    await server.call(`/v1/conversations/${id}/turns/t_1:cancel`, { method: 'POST' });

    await chat.addToolOutput({ ...locate, output: { city: 'Oslo' } });
    await eventually('an error', () => Promise.resolve(chat.error));

    expect(chat.status).toBe('error');
    expect(chat.error?.message).toContain('none of these calls waits');
  });
});

test('tool outputs without an answer of this conversation are the client’s own copy', async () => {
  const part = { type: 'dynamic-tool', state: 'output-available', toolCallId: 't_9_c0', output: 1 };
  const answer = { id: 'm_9', role: 'assistant', parts: [part] };

  const alone = await server.call('/v1/ai-sdk/chat', { body: { id: 'x', messages: [answer] } });

  expect(await errorOf(alone)).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
});
