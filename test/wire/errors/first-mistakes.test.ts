import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWireApp } from '#test/support/chat/wire-app.ts';

const app = createWireApp();
const conversation = `/v1/conversations/${randomUUID()}`;
const messages = `${conversation}/messages`;
const text = [{ type: 'text', text: 'Hi' }];
const message = (fields: object = {}) => ({ id: randomUUID(), parts: text, ...fields });

interface Mistake {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** JSON of it is sent; a text as it is. */
  body?: unknown;
}

/** What people get wrong in their first hour, and what the answer has to say. */
const mistakes: readonly [what: string, mistake: Mistake, told: string][] = [
  ['no sign-in', { headers: {} }, 'There is no header `Authorization`.'],
  ['a token without Bearer', { headers: { authorization: 'eyJ' } }, 'is no `Bearer` and one token'],
  ['an unset variable', { headers: { authorization: 'Bearer ' } }, 'is the variable set'],
  ['single quotes', { body: "{'message': 1}" }, 'Look at line 1, column 2.'],
  ['a body that breaks off', { body: '{"message":' }, 'It ends too early.'],
  ['no body', { body: '' }, '`message` is missing: give an object such as {"id":"<UUID>"'],
  ['a text for a message', { body: { message: 'Hi' } }, 'an object such as {"id":"<UUID>"'],
  ['the form of OpenAI', { body: { messages: [] } }, 'Did you mean `message`?'],
  [
    '`content` for `parts`',
    { body: { message: { content: 'Hi' } } },
    'The text goes into the parts of the message',
  ],
  ['no id', { body: { message: { parts: text } } }, 'The client’s id of a message, a UUID.'],
  ['an id that is none', { body: { message: message({ id: '1' }) } }, '`crypto.randomUUID()`'],
  ['a text for parts', { body: { message: message({ parts: 'Hi' }) } }, '[{"type":"text"'],
  [
    'no type of a part',
    { body: { message: message({ parts: [{ text: 'Hi' }] }) } },
    '"type":"text"',
  ],
  ['`stream`', { body: { message: message(), stream: true } }, '`Accept: text/event-stream`'],
  ['a wrong enum', { body: { message: message(), onBusy: 'wait' } }, 'reject, queue, interrupt'],
  [
    'a conversation’s name',
    { path: '/v1/conversations/my-chat/messages', body: { message: message() } },
    'must be a UUID, version 4 or 7',
  ],
  [
    'a setting beside the settings',
    { path: '/v1/conversations', body: { thresholdTokens: 2_000 } },
    'It belongs into `settings`.',
  ],
  [
    'snake case',
    { path: '/v1/conversations', body: { settings: { threshold_tokens: 2_000 } } },
    'Did you mean `thresholdTokens`?',
  ],
  [
    'a parameter in snake case',
    { method: 'GET', path: '/v1/conversations?page_size=10' },
    'Did you mean `pageSize`?',
  ],
  [
    'a turn by its number',
    { method: 'GET', path: `${conversation}/turns/1` },
    'A turnId looks like t_7',
  ],
  [
    'a generation that is missing',
    { path: `${conversation}:restore`, body: {} },
    '`generation` is missing: give a number. 0: none, nothing stays folded.',
  ],
];

test.each(mistakes)('the answer to a first mistake, %s, says what to do', async (_, ...given) => {
  const [{ method = 'POST', path = messages, headers, body = { message: message() } }, told] =
    given;
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const uid = headers ? undefined : 'alice';

  const answer = await app.call({
    method,
    path,
    uid,
    headers: headers ?? {},
    body: method === 'GET' ? undefined : sent,
  });

  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(JSON.parse(answer.text).error.message).toContain(told);
});
