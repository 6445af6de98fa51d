import type { Content } from '#shared/models/content.ts';
import { heldStreamer, scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { createWireApp, type WireApp } from '#test/support/chat/wire-app.ts';
import { usage } from '#test/support/wire/openai.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

/* What a chat completion of OpenAI’s protocol asks for: what of it reaches the model, and what is refused by its name. */

const { model, requests } = scriptedStreamer(textAnswer('Fine.', usage));
const app = createWireApp({ model }, { CLIENT_WRITABLE: 'systemInstruction,tools' });
const closed = createWireApp({ model });
const PATH = '/v1/openai/chat/completions';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const system = (content: string) => ({ role: 'system', content });
const bodyWith = (fields: object = {}) => ({
  model: 'm',
  messages: [user('Hello')],
  metadata: { conversation_id: randomUUID() },
  ...fields,
});

async function ask(fields: object = {}, { at = app, headers = {} }: AskOptions = {}) {
  const body = JSON.stringify(bodyWith(fields));
  const answer = await at.call({ method: 'POST', path: PATH, uid: 'alice', headers, body });
  return { status: answer.status, json: JSON.parse(answer.text) };
}

interface AskOptions {
  at?: WireApp;
  headers?: Record<string, string>;
}

const locate = { type: 'function', function: { name: 'locate' } };
const png = 'iVBORw0KGgo=';
const inline = { inlineData: { mimeType: 'image/png', data: png } };
const picture = (url: string) => ({
  messages: [user([{ type: 'image_url', image_url: { url } }])],
});
const linked = 'https://example.com/a.PNG?size=2';
const withParts = (...parts: object[]) => ({
  contents: [expect.objectContaining({ parts: expect.arrayContaining(parts) })],
});

test.each<[what: string, fields: object, request: object]>([
  [
    'how it is to be made',
    {
      temperature: 0.3,
      top_p: 0.8,
      seed: 11,
      stop: ['END'],
      reasoning_effort: 'low',
      max_tokens: 70,
    },
    {
      sampling: {
        temperature: 0.3,
        topP: 0.8,
        seed: 11,
        stopSequences: ['END'],
        thinkingLevel: 'low',
      },
      maxOutputTokens: 70,
    },
  ],
  [
    'functions, and the one that it demands',
    { tools: [locate], tool_choice: locate },
    { tools: [{ name: 'locate' }], toolChoice: { name: 'locate' } },
  ],
  [
    'an instruction where clients may write it',
    { messages: [system('Speak like a pirate.'), user('Hello')] },
    { systemInstruction: 'Speak like a pirate.', contents: [expect.anything()] },
  ],
  ['a picture', picture(`data:image/png;base64,${png}`), withParts(inline)],
  [
    'a picture at an address',
    picture(linked),
    withParts({ fileData: { mimeType: 'image/png', fileUri: linked } }),
  ],
])('an answer to a client of OpenAI has %s', async (_, fields, request) => {
  const { status } = await ask(fields);

  expect(status).toBe(200);
  expect(requests.at(-1)).toMatchObject(request);
});

test('fields that change nothing of an answer are named in it, and an instruction that the deployment keeps to itself', async () => {
  const { json } = await ask(
    {
      messages: [system('Be brief.'), user('Hello')],
      user: 'u',
      service_tier: 'auto',
      verbosity: 'low',
      store: false,
    },
    { at: closed },
  );

  expect(json.ignored).toEqual(['user', 'service_tier', 'verbosity', 'store', 'messages[0]']);
  expect(requests.at(-1)?.systemInstruction).toBeUndefined();
});

test('the values by which a client asks for what is done anyway are no reason to tell or refuse', async () => {
  const { status, json } = await ask({
    logprobs: false,
    presence_penalty: 0,
    parallel_tool_calls: true,
    store: true,
    verbosity: 'medium',
    modalities: ['text'],
    tool_choice: 'auto',
  });

  expect(status).toBe(200);
  expect(json).not.toHaveProperty('ignored');
});

const schemaOf = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
});

test.each<[what: string, fields: object, param: string]>([
  ['without messages', { messages: undefined }, 'messages'],
  ['that says nothing', { messages: [user('')] }, 'messages[0].content'],
  [
    'with a message right behind that of a tool',
    { messages: [{ role: 'tool', content: 'x', tool_call_id: 'y' }, user('Hi.')] },
    'messages[0].content',
  ],
  ['without a conversation', { metadata: {} }, 'metadata.conversation_id'],
  [
    'with a conversation in a wrong place',
    { metadata: {}, conversation_id: randomUUID() },
    'metadata.conversation_id',
  ],
  ['with a field that has no effect here', { logprobs: true }, 'logprobs'],
  ['with a field that nobody knows', { top_k: 5 }, 'top_k'],
  ['that is too warm', { temperature: 3 }, 'temperature'],
  ['for two answers', { n: 2 }, 'n'],
  ['for a longer answer than the model gives', { max_tokens: 65_537 }, 'max_tokens'],
  [
    'for a type that there is not',
    schemaOf({ type: 'banana' }),
    'response_format.json_schema.schema.type',
  ],
  [
    'for an answer of a form that there is not',
    schemaOf({ $ref: '#/none' }),
    'response_format.json_schema.schema',
  ],
  [
    'that demands a function that it does not declare',
    { tools: [locate], tool_choice: { type: 'function', function: { name: 'choose' } } },
    'tool_choice',
  ],
  [
    'with a picture of no known type',
    picture('https://example.com/a'),
    'messages[0].content[0].image_url.url',
  ],
])('a chat completion %s is refused by the name of the field', async (_, fields, param) => {
  const { status, json } = await ask(fields);

  expect(status).toBe(400);
  expect(json.error).toMatchObject({ code: 'BAD_FIELD', param, type: 'invalid_request_error' });
});

test.each<[what: string, fields: object, options: AskOptions, error: object]>([
  [
    'with a text that is too long',
    { messages: [user('x'.repeat(33_000))] },
    {},
    { code: 'string_above_max_length', param: 'messages[0].content[0].text' },
  ],
  [
    'with functions where the deployment lets nobody declare them',
    { tools: [locate] },
    { at: closed },
    { code: 'FIELD_NOT_WRITABLE', param: 'tools' },
  ],
  [
    'with a wish on disconnect that nobody knows',
    {},
    { headers: { 'X-On-Disconnect': 'later' } },
    { code: 'BAD_FIELD', param: 'X-On-Disconnect' },
  ],
])(
  'a chat completion %s is refused before the model is asked',
  async (...[, fields, options, error]) => {
    const asked = requests.length;

    const { status, json } = await ask(fields, options);

    expect(status).toBe(400);
    expect(json.error).toMatchObject(error);
    expect(requests).toHaveLength(asked);
  },
);

/** A chat whose answers are `Answer to {text}.`, and what the model is shown next. */
function newChat() {
  const { model: answering, calls, answerAll } = heldStreamer();
  answerAll();
  const at = createWireApp({ model: answering });
  const conversation_id = randomUUID();
  const send = async (
    messages: object[],
    { headers = {}, metadata = {}, ...fields }: Sent = {},
  ) => {
    const body = { messages, metadata: { conversation_id, ...metadata }, ...fields };
    return (await ask(body, { at, headers })).json;
  };
  const context = async () => {
    const path = `/v1/conversations/${conversation_id}/context`;
    const { text } = await at.call({ method: 'GET', path, uid: 'alice' });
    return JSON.parse(text).items.flatMap(({ kind, content }: { kind: string; content: Content }) =>
      kind === 'turn' && content.role === 'user' ? [content.parts[0]?.text] : [],
    );
  };
  return { calls, send, context };
}

interface Sent {
  headers?: Record<string, string>;
  metadata?: object;
  temperature?: number;
}

const dialogue = (...texts: string[]) =>
  texts.flatMap((text) => [user(text), assistant(`Answer to ${text}.`)]).slice(0, -1);

describe('the dialogue that a client of OpenAI sends along', () => {
  test.each<[what: string, sent: [messages: object[], options?: Sent][], context: string[]]>([
    [
      'a dialogue that lacks the last message is an edit in its place',
      [[dialogue('one')], [dialogue('one', 'two')], [dialogue('one', 'three')]],
      ['one', 'three'],
    ],
    [
      'a first message of a client that tells its whole history edits the first one',
      [[dialogue('one')], [dialogue('two'), { metadata: { history: 'whole' } }]],
      ['two'],
    ],
    [
      'a window that begins with an answer edits a message behind it',
      [
        [dialogue('one')],
        [dialogue('one', 'two')],
        [dialogue('one', 'two', 'three')],
        [[assistant('Answer to two.'), user('better')]],
      ],
      ['one', 'two', 'better'],
    ],
  ])('%s', async (_, sent, expected) => {
    const { send, context } = newChat();

    for (const [messages, options] of sent) await send(messages, options);

    expect(await context()).toEqual(expected);
  });
});

describe('a message without an id', () => {
  const behind = (text: string) => dialogue('Hi', text);
  const key = { headers: { 'Idempotency-Key': 'my key' } };

  test.each<
    [what: string, first: Parameters<Chat['send']>, second: Parameters<Chat['send']>, calls: number]
  >([
    ['is new each time without a history', [dialogue('a')], [dialogue('a')], 2],
    ['is known by its history', [behind('a')], [behind('a')], 1],
    [
      'is known whatever the instruction says',
      [[system('It is 12:00.'), ...behind('a')]],
      [[system('It is 12:01.'), ...behind('a')]],
      1,
    ],
    ['is known by its Idempotency-Key', [dialogue('a'), key], [dialogue('a'), key], 1],
  ])('an OpenAI message without an id %s', async (...[, first, second, count]) => {
    const { send, calls } = newChat();

    const one = await send(...first);
    const two = await send(...second);

    expect(calls).toHaveLength(count);
    expect(one.id === two.id).toBe(count === 1);
  });

  test('an `Idempotency-Key` of another message is refused', async () => {
    const { send } = newChat();
    await send(dialogue('a'), key);

    const { error } = await send(dialogue('b'), key);

    expect(error).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});

type Chat = ReturnType<typeof newChat>;
