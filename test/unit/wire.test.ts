import { AppError } from '#shared/lib/errors.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { aiSdkChatBody } from '#shared/wire/facades/ai-sdk.ts';
import { callableBody } from '#shared/wire/facades/callable.ts';
import { chatCompletionBody } from '#shared/wire/facades/openai.ts';
import { createResponseBody } from '#shared/wire/facades/responses/request.ts';
import { JSON_FIELDS_MAX, JSON_VALUES_MAX } from '#shared/lib/limits.ts';
import { parseJsonBody } from '#shared/wire/parse-json.ts';
import { createConversationBody } from '#shared/wire/resources/conversations.ts';
import { sendMessageBody } from '#shared/wire/resources/messages.ts';
import { toolResultsBody } from '#shared/wire/resources/tool-results.ts';
import { createUploadBody } from '#shared/wire/resources/uploads.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const listOf = (count: number) => `[${Array.from({ length: count }, () => '1').join()}]`;

describe('S6: a body of many values', () => {
  test('S6: a body of as many values as are allowed is read', () => {
    expect(parseJsonBody(listOf(JSON_VALUES_MAX - 1))).toHaveLength(JSON_VALUES_MAX - 1);
  });

  test.each([
    ['numbers', listOf(JSON_VALUES_MAX)],
    ['empty lists', `[${'[],'.repeat(JSON_VALUES_MAX)}[]]`],
  ])('S6: a body of more values is refused with the bound: %s', (_, text) => {
    expect(() => parseJsonBody(text)).toThrow(
      expect.objectContaining({
        reason: 'BAD_JSON',
        publicMessage: expect.stringContaining(`more than ${JSON_VALUES_MAX} values`),
      }),
    );
  });

  test('S6: an object of too many fields is refused with the bound, a list of as many objects is not', () => {
    const many = '"a":1,'.repeat(JSON_FIELDS_MAX - 1);

    expect(parseJsonBody(`[{${many}"a":1},{"b":1}]`)).toEqual([{ a: 1 }, { b: 1 }]);
    expect(() => parseJsonBody(`{"c":{${many}"a":1,"b":1}}`)).toThrow(
      expect.objectContaining({
        publicMessage: expect.stringContaining(`more than ${JSON_FIELDS_MAX} fields`),
      }),
    );
  });

  test('commas and brackets inside a text are no values', () => {
    const text = '[{:,"'.repeat(JSON_VALUES_MAX);

    expect(parseJsonBody(JSON.stringify({ text }))).toEqual({ text });
  });

  test.each(['{"__proto__":1}', '{"a":[{"\\u005f_proto__":{}}]}'])(
    'a key that reaches the prototype is refused, however it is written: %s',
    (text) => {
      expect(() => parseJsonBody(text)).toThrow(
        expect.objectContaining({ publicMessage: expect.stringContaining('`__proto__`') }),
      );
    },
  );
});

const lines = [
  [
    'the name of an upload',
    (line: string) =>
      createUploadBody.safeParse({ mimeType: 'image/png', sizeBytes: 1, name: line }).data?.name,
  ],
  [
    'the title of a conversation',
    (line: string) => createConversationBody.safeParse({ title: line }).data?.title,
  ],
] as const;

describe.each(lines)('%s', (_, read) => {
  test.each([
    ['a turn of the direction', 'invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['isolates and marks of direction', '\u2067a\u2069\u200eb\u061c', 'ab'],
    ['what has no width', 'pay\u200bment\ufeff\u00ad\u2060', 'payment'],
    ['tags', 'a\u{e0041}\u{e007f}', 'a'],
  ])('a line for lists is read without %s', (...[, line, shown]) => {
    expect(read(line)).toBe(shown);
  });

  test.each(['Grüße 👩‍🚀 ❤️‍🔥', 'می‌خواهم', 'שלום.png'])('a line for lists keeps %j', (line) => {
    expect(read(line)).toBe(line);
  });

  test.each(['two\nlines', 'a\u001b[8mb', 'a\u2028b', '\u202e', ''])(
    'a line for lists is refused: %j',
    (line) => {
      expect(read(line)).toBeUndefined();
    },
  );
});

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
