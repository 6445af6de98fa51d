import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { aiSdkChatBody } from '#shared/wire/facades/ai-sdk.ts';
import { callableBody } from '#shared/wire/facades/callable.ts';
import { chatCompletionBody } from '#shared/wire/facades/openai.ts';
import { createResponseBody } from '#shared/wire/facades/responses/request.ts';
import { createConversationBody } from '#shared/wire/resources/conversations.ts';
import { sendMessageBody } from '#shared/wire/resources/messages.ts';
import { toolResultsBody } from '#shared/wire/resources/tool-results.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';

/* Every problem costs kilobytes and tens of microseconds: those of a large request would end an instance. */

const COUNT = 5_000;
const list = (value: unknown) => Array.from({ length: COUNT }, () => value);
const record = (value: unknown, key = 'k') =>
  Object.fromEntries(Array.from({ length: COUNT }, (_, i) => [`${key}${i}`, value]));
const message = { id: randomUUID(), parts: [{ type: 'text', text: 'Hi' }] };

function refusalOf(schema: z.ZodType, body: unknown): AppError {
  try {
    parseRequest(schema, body);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the body was taken');
}

test.each<[string, z.ZodType, unknown]>([
  ['UI messages', aiSdkChatBody, { id: 'a', messages: list(1) }],
  ['UI tools', aiSdkChatBody, { id: 'a', messages: [], tools: record(1) }],
  ['chat messages', chatCompletionBody, { model: 'a', messages: list(1) }],
  [
    'chat contents',
    chatCompletionBody,
    { model: 'a', messages: list({ role: 'user', content: 1 }) },
  ],
  ['response items', createResponseBody, { input: list({}) }],
  ['response metadata', createResponseBody, { input: 'a', metadata: record(1) }],
  ['parts', sendMessageBody, { message: { ...message, parts: list(1) } }],
  ['unknown fields', sendMessageBody, record(1)],
  ['unknown fields of a part', sendMessageBody, { message: { ...message, parts: [record(1)] } }],
  ['unknown fields of a callable', callableBody, { data: record(1) }],
  ['context values', sendMessageBody, { message, clientContext: { values: record(1) } }],
  [
    'entries of a context value',
    sendMessageBody,
    { message, clientContext: { values: { a: list(1) } } },
  ],
  ['alternatives of a schema', sendMessageBody, { message, responseSchema: { anyOf: list(1) } }],
  ['metadata', createConversationBody, { metadata: record(1) }],
  ['keys of metadata', createConversationBody, { metadata: record('a', '__') }],
  ['tools', createConversationBody, { tools: list({}) }],
  ['tool results', toolResultsBody, { results: list(1) }],
])('S6: thousands of wrong %s are refused at the first one', (_, schema, body) => {
  const refusal = refusalOf(schema, body);

  expect(refusal.cause).toBeInstanceOf(z.ZodError);
  expect(refusal.cause).toMatchObject({ issues: [expect.anything()] });
  expect(refusal.publicMessage.length).toBeLessThan(2_000);
});
