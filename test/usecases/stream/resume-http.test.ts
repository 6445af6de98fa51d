import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { messageBody } from '#test/support/processes/fault-stack.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const sse = { accept: 'text/event-stream' };

/** A conversation with one answered message. */
async function finished() {
  const conversation = `/v1/conversations/${randomUUID()}`;
  const sent = messageBody('Hello');
  const response = await chat.call(`${conversation}/messages`, { body: sent, headers: sse });
  return { conversation, sent, text: await response.text() };
}

test('a conversation’s stream continues after the cursor of the query when the header names one, too', async () => {
  const { conversation, text } = await finished();

  const response = await chat.call(`${conversation}/turns/t_1/stream?startingAfter=1`, {
    headers: { 'last-event-id': '3' },
  });

  expect(await response.text()).toBe(text.slice(text.indexOf('id: 2\n')));
});

test.each([
  ['?startingAfter=-1', {}, 'startingAfter'],
  ['?startingAfter=', {}, 'startingAfter'],
  ['', { 'last-event-id': '-1' }, 'Last-Event-ID'],
  ['', { 'last-event-id': 'abc' }, 'Last-Event-ID'],
  ['?startingAfter=99', {}, 'startingAfter'],
])(
  'a conversation’s stream refuses the cursor %s %o',
  async (query, headers: Record<string, string>, field) => {
    const { conversation } = await finished();

    const response = await chat.call(`${conversation}/turns/t_1/stream${query}`, { headers });

    expect(await errorOf(response)).toMatchObject({
      http: 400,
      reason: 'BAD_FIELD',
      metadata: { field },
    });
  },
);

test.each([
  ['at the end', '5', /^data: \[DONE\]\n\n$/],
  ['behind the end', '99', /^id: 0\n[^]*"delta":"Fine\."[^]*data: \[DONE\]\n\n$/],
  ['of an attempt that has not been', '5000000', /^id: 0\n[^]*data: \[DONE\]\n\n$/],
  ['in the middle', '1', /^id: 2\n[^]*data: \[DONE\]\n\n$/],
])('a message resent with a cursor %s is never refused', async (_, cursor, expected) => {
  const { conversation, sent } = await finished();

  const response = await chat.call(`${conversation}/messages`, {
    body: sent,
    headers: { ...sse, 'last-event-id': cursor },
  });

  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(expected);
});
