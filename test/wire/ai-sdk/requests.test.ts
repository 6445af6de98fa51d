import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { heldStreamer } from '#test/fakes/scripted-streamer.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { eventually } from '#test/support/eventually.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';

/* What `useChat` sends: which conversation, message, edit or regeneration it is, and what is refused by its name. */

const { model, calls, answerAll } = heldStreamer();
answerAll();
const app = createWireApp({ model });
const PATH = '/v1/ai-sdk/chat';

const saying = (text: string, id: string = randomUUID()) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

const post = (body: object, at = app) =>
  at.call({ method: 'POST', path: PATH, uid: 'alice', body: JSON.stringify(body) });

/** What the `start` of a stream tells of its turn, and the text that follows. */
function answerIn(stream: string) {
  const chunks = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) =>
    JSON.parse(json),
  );
  const [{ messageId, messageMetadata }] = chunks;
  const text = chunks.map(({ type, delta }) => (type === 'text-delta' ? delta : '')).join('');
  return { messageId, ...messageMetadata, text };
}

const send = async (body: object) => answerIn((await post(body)).text);

const turnOf = async (conversationId: string, seq: number) =>
  (await readTurns(app.dependencies.store, conversationId, [seq]))[0]?.value;

const submit = (text: string, id: string) => ({ messages: [saying(text, id)] });
const edit = (text: string, messageId: string) => ({
  messages: [saying(text, messageId)],
  messageId,
});
const regenerate = (text: string, id: string, messageId?: string) => ({
  messages: [saying(text, id)],
  messageId,
  trigger: 'regenerate-message',
});

test('the AI SDK’s ids that are UUIDs become conversation and message ids', async () => {
  const [id, messageId] = [randomUUID(), randomUUID()];

  const { conversationId } = await send({ id, ...submit('Hello', messageId) });

  expect(conversationId).toBe(id);
  expect((await turnOf(id, 1))?.messageId).toBe(messageId);
});

test.each<[what: string, requests: object[], answer: object, context: string[]]>([
  [
    'a message edited back is answered again, replacing the edit',
    [submit('a', 'u1'), edit('b', 'u1'), edit('a', 'u1')],
    { messageId: 'm_3', replayed: false, text: 'Answer to a.' },
    ['a'],
  ],
  [
    'an edit of an earlier message removes later ones from the context',
    [submit('a', 'u1'), submit('b', 'u2'), edit('c', 'u1')],
    { messageId: 'm_3', text: 'Answer to c.' },
    ['c'],
  ],
  [
    'a regeneration by the answer’s id happens once, however often it is sent',
    [submit('a', 'u1'), regenerate('a', 'u1', 'm_1'), regenerate('a', 'u1', 'm_1')],
    { messageId: 'm_2', replayed: true },
    ['a'],
  ],
  [
    'a regeneration of a message that never arrived is its first answer',
    [regenerate('a', 'u1')],
    { messageId: 'm_1', text: 'Answer to a.' },
    ['a'],
  ],
  [
    'a message alone takes the place of all on a page that has the whole history',
    [submit('a', 'u1'), submit('b', 'u2'), { ...submit('c', 'u3'), history: 'whole' }],
    { messageId: 'm_3', text: 'Answer to c.' },
    ['c'],
  ],
])('%s', async (...[, requests, answer, context]) => {
  const id = randomUUID();

  const answers = [];
  for (const request of requests) answers.push(await send({ id, ...request }));

  expect(answers.at(-1)).toMatchObject(answer);
  expect(calls.at(-1)?.request.contents.map(contentText)).toEqual(context);
});

const said = (id: string, text: string) => ({
  id,
  role: 'assistant',
  parts: [{ type: 'text', text }],
});

/** What a page shows that went back to the branch before an edit of its second message. */
const olderBranch = [
  saying('a', 'u1'),
  said('m_1', 'Answer to a.'),
  saying('b', 'u2'),
  said('m_2', 'Answer to b.'),
];

/** A conversation whose second message was edited. */
async function withEdit() {
  const id = randomUUID();
  for (const request of [submit('a', 'u1'), submit('b', 'u2'), edit('c', 'u2')])
    await send({ id, ...request });
  return id;
}

test('an AI SDK message that goes on from an older branch is refused with what replaced it', async () => {
  const id = await withEdit();

  const answer = await post({ id, messages: [...olderBranch, saying('d', 'u4')] });

  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.text).toContain('MESSAGE_REPLACED');
});

test('an AI SDK regeneration on an older branch answers the text that it shows', async () => {
  const id = await withEdit();

  const trigger = 'regenerate-message';
  const answer = await send({ id, messages: olderBranch.slice(0, 3), messageId: 'm_2', trigger });

  expect(answer.text).toBe('Answer to b.');
  const context = calls.at(-1)?.request.contents.map(contentText);
  expect(context).toEqual(['a', 'Answer to a.', 'b']);
});

test('an AI SDK regeneration of a running answer attaches to it', async () => {
  const held = heldStreamer();
  const server = await startChatServer({ overrides: { model: held.model } });
  onTestFinished(() => server.stop());
  const body = { id: randomUUID(), messages: [saying('Hello')] };
  const sent = await server.call(PATH, { body });
  await eventually('a model call', () => Promise.resolve(held.calls[0]));

  const attached = await server.call(PATH, { body: { ...body, trigger: 'regenerate-message' } });
  held.answerAll();

  expect(answerIn(await attached.text()).text).toBe('Answer to Hello.');
  await sent.text();
  expect(held.calls).toHaveLength(1);
});

describe('what is taken of a body', () => {
  test('an AI SDK body may have the app’s own fields', async () => {
    const answer = await send({
      id: randomUUID(),
      messages: [
        { id: 1, role: 'assistant', parts: 'nonsense', extra: true },
        {
          ...saying('Hello'),
          metadata: { mood: 'good' },
          createdAt: '2026-01-01',
          parts: [
            { type: 'step-start' },
            { type: 'data-location', data: { city: 'Seoul' } },
            { type: 'text', text: '' },
            { type: 'text', text: 'Hello', state: 'done', providerMetadata: {} },
          ],
        },
        { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'Half' }] },
      ],
      sessionId: 'abc',
      messageId: null,
    });

    expect(answer.text).toBe('Answer to Hello.');
  });

  const inline = { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } };
  test.each([
    ['a PNG', 'data:image/png;base64,aGVsbG8=', inline],
    [
      'an address',
      'https://example.com/a.png',
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
    ],
  ])('an AI SDK body’s files are read: %s', async (_, url, part) => {
    const id = randomUUID();
    const message = saying('Look');
    const file = { type: 'file', mediaType: 'image/png', filename: 'a.png', url };

    await send({ id, messages: [{ ...message, parts: [file, ...message.parts] }] });

    expect((await turnOf(id, 1))?.user.parts).toEqual([part, { text: 'Look' }]);
  });

  test('an instruction, a model and settings of an answer reach the model where clients may write them', async () => {
    const open = createWireApp({ model }, { CLIENT_WRITABLE: 'systemInstruction,model' });

    await post(
      {
        id: randomUUID(),
        messages: [saying('Hello')],
        system: 'Rhyme.',
        callSettings: { temperature: 0.3, maxTokens: 99 },
        config: { modelName: 'gemini-3.8-flash' },
      },
      open,
    );

    expect(calls.at(-1)?.request).toMatchObject({
      model: 'gemini-3.8-flash',
      systemInstruction: 'Rhyme.',
      sampling: { temperature: 0.3 },
      maxOutputTokens: 99,
    });
  });

  const file = (url: string) => ({
    messages: [{ ...saying('x'), parts: [{ type: 'file', mediaType: 'image/png', url }] }],
  });
  const own = { messages: [saying('x')] };
  const output = { type: 'dynamic-tool', state: 'output-available', toolCallId: 't_9_c0' };
  test.each<[what: string, body: object, reason: string, field: string]>([
    ['no message', { messages: [] }, 'BAD_FIELD', 'messages'],
    [
      'outputs of an answer that is not there',
      { messages: [{ id: 'm_9', role: 'assistant', parts: [{ ...output, output: 1 }] }] },
      'BAD_FIELD',
      'messages',
    ],
    [
      'no parts',
      { messages: [{ id: 'u', role: 'user', parts: [] }] },
      'BAD_PART',
      'messages[0].parts',
    ],
    ['a file that is not base64', file('data:text/plain,hi'), 'BAD_PART', 'message.parts[0].url'],
    ['an unknown trigger', { ...own, trigger: 'resume-stream' }, 'BAD_FIELD', 'trigger'],
    [
      'a setting that no model here has',
      { ...own, callSettings: { presencePenalty: 1 } },
      'BAD_FIELD',
      'callSettings.presencePenalty',
    ],
    ['a key', { ...own, config: { apiKey: 'of the user' } }, 'BAD_FIELD', 'config.apiKey'],
    [
      'tools',
      { ...own, tools: { locate: { parameters: { type: 'object' } } } },
      'FIELD_NOT_WRITABLE',
      'tools',
    ],
  ])('an AI SDK body is refused for %s', async (...[, body, reason, field]) => {
    const answer = await post({ id: randomUUID(), ...body });

    const { error } = JSON.parse(answer.text);
    expect(answer.status).toBe(400);
    expect(error.details[0]).toMatchObject({ reason, metadata: { field } });
  });
});
