import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import {
  conversationResponse,
  conversationWithContextResponse,
} from '#shared/wire/resources/conversations.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  expectClean,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { appTool, countingTools } from '#test/support/tools/tool-world.ts';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer({
  overrides: { toolbox: createToolbox(countingTools().tools) },
  environment: { CLIENT_WRITABLE: 'tools' },
});
afterAll(() => chat.stop());

const locate = appTool('locate');
const parameters = { type: 'object' };
const named = (name: string) => ({ name, parameters });

const patch = (id: string, body: object, mask = '') =>
  chat.call(`/v1/conversations/${id}${mask}`, { method: 'PATCH', body });
const read = async (id: string) =>
  readAs(conversationWithContextResponse, await chat.call(`/v1/conversations/${id}`));

describe('tools of a conversation', () => {
  test('a conversation’s tools are declared when it is created and shown as sent', async () => {
    const tools = [{ ...locate, needsApproval: true }, named('choose')];

    const created = await createConversation(chat, { body: { tools } });

    expect(created.tools).toEqual(tools);
    expect((await read(created.id)).tools).toEqual(tools);
  });

  test.each([
    ['an empty list', { tools: [] }, ''],
    ['the mask alone', {}, '?updateMask=tools'],
  ])('a conversation’s tools are removed by %s', async (_, body, mask) => {
    const { id } = await createConversation(chat, { body: { tools: [locate] } });

    const changed = await readAs(conversationResponse, await patch(id, body, mask));

    expect(changed).not.toHaveProperty('tools');
    expect(await read(id)).not.toHaveProperty('tools');
  });
});

const many = Array.from({ length: 33 }, (_, i) => named(`tool_${i}`));
/** Half as many characters as there may be bytes, of two bytes each. */
const wide = { ...locate, description: 'ö'.repeat(8 * 1024) };

const refused: [string, unknown, string][] = [
  ['a name that begins with a digit', [named('1st')], 'BAD_FIELD'],
  ['a name that ends a line', [named('locate\n')], 'BAD_FIELD'],
  ['no parameters', [{ name: 'locate' }], 'BAD_FIELD'],
  ['two tools of one name', [locate, locate], 'BAD_FIELD'],
  ['33 tools', many, 'BAD_FIELD'],
  ['more than 16 KiB in fewer characters', [wide], 'BAD_FIELD'],
  ['the name of a tool of the server', [locate, named('weather')], 'TOOL_NAME_TAKEN'],
];

describe('tools that are refused', () => {
  test.each(refused)(
    'invalid tools of a new conversation are refused: %s',
    async (_, tools, reason) => {
      const error = await errorOf(await chat.call('/v1/conversations', { body: { tools } }));

      expect(error).toMatchObject({ http: 400, reason });
      expectClean(error);
    },
  );

  test('tools at exactly the limits are accepted', async () => {
    const largest = { name: 'n'.repeat(64), description: '', parameters };
    const room = 16 * 1024 - JSON.stringify([largest]).length;
    const tools = [{ ...largest, description: 'x'.repeat(room) }];

    const created = await createConversation(chat, { body: { tools } });
    const most = await createConversation(chat, { body: { tools: many.slice(1) } });

    expect(created.tools).toEqual(tools);
    expect(most.tools).toHaveLength(32);
  });

  test('tools are refused where the deployment does not list them', async () => {
    const closed = await startChatServer();
    try {
      const error = await errorOf(
        await closed.call('/v1/conversations', { body: { tools: [locate] } }),
      );
      expect(error).toMatchObject({ http: 400, reason: 'FIELD_NOT_WRITABLE' });
    } finally {
      await closed.stop();
    }
  });
});
