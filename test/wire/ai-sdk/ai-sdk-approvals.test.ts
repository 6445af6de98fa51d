import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { transportOptions } from '#docs/clients/recipes/use-chat.ts';
import { eventually } from '#test/support/eventually.ts';
import { openAssistantUi } from '#test/support/wire/assistant-ui.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import { versions, type ToolChat } from './versions.ts';

const server = await startToolServer();
afterAll(() => server.stop());

const ASKING = 'I will.\ncall transfer {"amount":5}\nthen\nIt is done.';
const CALL = 't_1_c0';

const partsOf = (chat: ToolChat) => chat.messages.at(-1)?.parts ?? [];

const endsWith = (chat: ToolChat, text: string) =>
  eventually(`the chat ends with ${text}`, () =>
    Promise.resolve((chat.status === 'ready' && partsOf(chat).at(-1)?.text === text) || undefined),
  );

const backend = {
  baseUrl: server.url,
  getIdToken: async () => (await server.authorization()).replace('Bearer ', ''),
};

/** A chat that knows which version it has, as the recipe says it; 0: it says none. */
async function open(
  createChat: (typeof versions)[number][1],
  { aiSdk, chatId }: { aiSdk: number; chatId?: string },
) {
  const id = chatId ?? (await conversationWithTools(server));
  const transport = transportOptions(backend, { aiSdk });
  return { id, chat: createChat({ id, messages: [], transport, onData: () => undefined }) };
}

const asked = { type: 'dynamic-tool', toolName: 'transfer', input: { amount: 5 } };

describe.each(versions.filter(([version]) => version !== '5'))(
  'useChat of ai %s with approvals',
  (version, createChat) => {
    const aiSdk = Number(version);

    test('useChat asks for approval in its own form, and the allowed call runs', async () => {
      const { chat } = await open(createChat, { aiSdk });
      await chat.sendMessage({ text: ASKING });
      expect(partsOf(chat)).toMatchObject([
        { type: 'text', text: 'I will.' },
        { ...asked, state: 'approval-requested', approval: { id: CALL } },
      ]);

      await chat.addToolApprovalResponse?.({ id: CALL, approved: true });
      await endsWith(chat, 'It is done.');

      expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expect(partsOf(chat)).toMatchObject([
        { type: 'text', text: 'I will.' },
        { ...asked, state: 'output-available', output: { transferred: 5 } },
        { type: 'step-start' },
        { type: 'text', text: 'It is done.' },
      ]);
    });

    test('useChat shows a call that the user did not allow as denied', async () => {
      const { chat } = await open(createChat, { aiSdk });
      await chat.sendMessage({ text: ASKING });

      await chat.addToolApprovalResponse?.({ id: CALL, approved: false });
      await endsWith(chat, 'It is done.');

      expect(partsOf(chat)).toMatchObject([
        { type: 'text' },
        { ...asked, state: 'output-denied', approval: { id: CALL, approved: false } },
        { type: 'step-start' },
        { type: 'text' },
      ]);
    });

    test('useChat asks again on another device, and the call is allowed there', async () => {
      const { id, chat } = await open(createChat, { aiSdk });
      await chat.sendMessage({ text: ASKING });
      const { chat: other } = await open(createChat, { aiSdk, chatId: id });

      await other.resumeStream();
      expect(partsOf(other).at(-1)).toMatchObject({ ...asked, state: 'approval-requested' });
      await other.addToolApprovalResponse?.({ id: CALL, approved: true });
      await endsWith(other, 'It is done.');

      expect(partsOf(other)[1]).toMatchObject({ output: { transferred: 5 } });
    });
  },
);

test.each(versions)(
  'useChat of ai %s that does not say its version gets approvals as a notice',
  async (_, createChat) => {
    const { id, chat } = await open(createChat, { aiSdk: 0 });

    await chat.sendMessage({ text: ASKING });

    expect(chat).toMatchObject({ status: 'ready', error: undefined });
    expect(partsOf(chat)).toMatchObject([
      { type: 'text' },
      { ...asked, state: 'input-available' },
      { type: 'data-notice', data: { kind: 'approval', callId: CALL } },
    ]);
    const { chat: other } = await open(createChat, { aiSdk: 0, chatId: id });
    await other.resumeStream();
    expect(partsOf(other)).toEqual(partsOf(chat));
  },
);

test('assistant-ui asks for approval in its own form, and the allowed call runs', async () => {
  const own = await startToolServer();
  onTestFinished(() => own.stop());
  const { headers } = transportOptions(
    { ...backend, getIdToken: async () => (await own.authorization()).replace('Bearer ', '') },
    { aiSdk: 7 },
  );
  const ui = await openAssistantUi(own, { transport: { headers } });
  ui.thread().append(ASKING);
  const part = await eventually('the question', () => {
    const content = ui.thread().getState().messages[1]?.content ?? [];
    const index = content.findIndex((each) => each.type === 'tool-call' && each.approval);
    return Promise.resolve(
      index < 0 ? undefined : ui.thread().getMessageByIndex(1).getMessagePartByIndex(index),
    );
  });

  void part.respondToToolApproval({ approved: true });
  await ui.ends('It is done.');

  expect(ui.thread().getState().messages[1]?.content[1]).toMatchObject({
    toolName: 'transfer',
    result: { transferred: 5 },
  });
});
