import { afterAll, describe, expect, test } from 'vitest';
import { loadMessages, runOnce } from '#docs/clients/recipes/use-chat.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import {
  chatsOn,
  endsWith,
  partsOf,
  until,
  versions,
  type Chat,
  type Version,
} from '#test/support/wire/use-chat.ts';

const server = await startToolServer();
afterAll(() => server.stop());

/** Chats on a new conversation whose app runs `locate` and `choose`. */
const newChats = async (version: Version = 7) =>
  chatsOn(server, version, await conversationWithTools(server));

const ASKING = 'Let me see.\ncall locate {"question":"where"}\nthen\nYou are in Oslo.';
const locate = { tool: 'locate', toolCallId: 't_1_c0' };
const inOslo = { ...locate, output: { city: 'Oslo' } };
const text = (said: string) => ({ type: 'text', text: said });

describe.each(versions)('useChat of ai %i with tools', (version) => {
  test('useChat shows server tool calls in their place between the texts', async () => {
    const chat = (await newChats(version)).open();

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
});

describe('app calls of useChat', () => {
  test('useChat answers several calls of one message in turn, each output once', async () => {
    const chat = (await newChats()).open();
    await chat.sendMessage({ text: 'call locate\nthen\ncall choose\nthen\nDone so.' });
    await chat.addToolOutput({ ...locate, output: 'here' });
    await until('the second call', () => chat.status === 'ready' && partsOf(chat).length === 3);

    const errorText = 'The user does not want to.';
    const refused = { toolCallId: 't_1_c1', state: 'output-error', errorText } as const;
    await chat.addToolOutput({ tool: 'choose', ...refused });
    await endsWith(chat, 'Done so.');

    expect(partsOf(chat)).toMatchObject([
      { toolCallId: 't_1_c0', output: 'here' },
      { type: 'step-start' },
      refused,
      { type: 'step-start' },
      text('Done so.'),
    ]);
  });

  /** Two tabs in which an answer waits for `locate`. */
  async function twoTabs() {
    const { backend, id, open } = await newChats();
    const [chat, other] = [open(), open()];
    await chat.sendMessage({ text: ASKING });
    await other.resumeStream();
    return { backend, id, chat, other };
  }

  test.each([
    ['at once', false, /^(Oslo|Bergen)$/],
    ['one after the other', true, /^Oslo$/],
  ])('useChat in two tabs may answer the same call: %s', async (_, isLater, city) => {
    const { backend, id, chat, other } = await twoTabs();
    expect(partsOf(other)).toMatchObject([text('Let me see.'), { state: 'input-available' }]);

    const first = chat.addToolOutput(inOslo);
    if (isLater) await endsWith(chat, 'You are in Oslo.');
    await Promise.all([first, other.addToolOutput({ ...locate, output: { city: 'Bergen' } })]);
    await Promise.all([endsWith(chat, 'You are in Oslo.'), endsWith(other, 'You are in Oslo.')]);

    for (const tab of [chat, other]) expect(tab).toMatchObject({ error: undefined });
    const stored = await loadMessages(backend, id);
    const output = { city: expect.stringMatching(city) };
    expect(stored[1]?.parts[1]).toMatchObject({ state: 'output-available', output });
    expect(partsOf(other)[1]).toMatchObject({ state: 'output-available', output });
  });

  test('useChat’s tool runs in one tab only, through the recipe', async () => {
    const { id, chat, other } = await twoTabs();
    const ran: string[] = [];
    const runIn = (tab: Chat, name: string) =>
      runOnce(id, locate.toolCallId, async () => {
        ran.push(name);
        await tab.addToolOutput(inOslo);
      });

    const claims = await Promise.all([runIn(chat, 'first tab'), runIn(other, 'second tab')]);
    await endsWith(chat, 'You are in Oslo.');

    expect(claims).toEqual([true, false]);
    expect(await runIn(other, 'second tab')).toBe(false);
    expect(ran).toEqual(['first tab']);
  });
});

const PAYING = 'I will.\ncall transfer {"amount":5}\nthen\nIt is done.';
const transfer = { type: 'dynamic-tool', toolName: 'transfer', input: { amount: 5 } };

describe.each([6, 7] as const)('useChat of ai %i with approvals', (version) => {
  const wishes = { aiSdk: version };

  test('useChat asks for approval in its own form, and shows another one as denied', async () => {
    const chat = (await newChats(version)).open({ wishes });
    await chat.sendMessage({ text: PAYING });
    expect(partsOf(chat)).toMatchObject([
      text('I will.'),
      { ...transfer, state: 'approval-requested', approval: { id: 't_1_c0' } },
    ]);

    await chat.addToolApprovalResponse?.({ id: 't_1_c0', approved: false });
    await endsWith(chat, 'It is done.');

    expect(partsOf(chat)).toMatchObject([
      text('I will.'),
      { ...transfer, state: 'output-denied' },
      { type: 'step-start' },
      text('It is done.'),
    ]);
  });

  test('useChat asks again on another device, and the call is allowed there', async () => {
    const { open } = await newChats(version);
    await open({ wishes }).sendMessage({ text: PAYING });
    const other = open({ wishes });

    await other.resumeStream();
    expect(partsOf(other).at(-1)).toMatchObject({ ...transfer, state: 'approval-requested' });
    await other.addToolApprovalResponse?.({ id: 't_1_c0', approved: true });
    await endsWith(other, 'It is done.');

    expect(partsOf(other)[1]).toMatchObject({ output: { transferred: 5 } });
  });
});

test.each(versions)(
  'useChat of ai %i that does not say its version gets approvals as a notice, on each device',
  async (version) => {
    const { open } = await newChats(version);
    const [chat, other] = [open({ wishes: { aiSdk: 0 } }), open({ wishes: { aiSdk: 0 } })];

    await chat.sendMessage({ text: PAYING });
    await other.resumeStream();

    expect(chat).toMatchObject({ status: 'ready', error: undefined });
    expect(partsOf(chat)).toMatchObject([
      text('I will.'),
      { ...transfer, state: 'input-available' },
      { type: 'data-notice', data: { kind: 'approval', callId: 't_1_c0' } },
    ]);
    expect(partsOf(other)).toEqual(partsOf(chat));
  },
);
