import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { sendMessageBody } from '#shared/wire/resources/messages.ts';
import { chatCompletionBody } from '#shared/wire/facades/openai.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';

type Schema = Parameters<typeof parseRequest>[0];

function refusalOf(schema: Schema, value: unknown): { text: string; field: string | undefined } {
  try {
    parseRequest(schema, value);
  } catch (error) {
    if (error instanceof AppError)
      return { text: error.publicMessage, field: error.metadata['field'] };
    throw error;
  }
  throw new Error('the value was taken');
}

const sent = (parts: unknown) => ({ message: { id: randomUUID(), parts } });
const asked = (content: unknown, more: object = {}) => ({
  model: 'x',
  messages: [{ role: 'user', content }],
  ...more,
});

describe('the sentence of a request that is refused', () => {
  test.each<[string, unknown, { text: string; field: string }]>([
    [
      'that is a list',
      [],
      {
        text: 'The body must be an object with `message`, `locale`, `onBusy`, `recallTokens`, `clientContext`, `responseSchema`.',
        field: '',
      },
    ],
    [
      'whose message is a text',
      { message: 'Hi' },
      {
        text: '`message` must be an object such as {"id":"<UUID>","parts":[{"type":"text","text":"…"}]}.',
        field: 'message',
      },
    ],
    [
      'without parts',
      sent([]),
      {
        text: '`message.parts` must have at least 1 entry. A text is `[{"type":"text","text":"…"}]`.',
        field: 'message.parts',
      },
    ],
    [
      'with an empty text',
      sent([{ type: 'text', text: '' }]),
      {
        text: '`message.parts[0].text` must have at least 1 character.',
        field: 'message.parts[0].text',
      },
    ],
    [
      'with a part of an unknown type',
      sent([{ type: 'audio' }]),
      {
        text: '`message.parts[0].type` must be one of: text, file. Parts are {"type":"text","text":"…"} and, for pictures and files, {"type":"file","mediaType":"image/png","data":"<base64>"}.',
        field: 'message.parts[0].type',
      },
    ],
    [
      'with a part of no type',
      sent([{ text: 'Hi' }]),
      {
        text: '`message.parts[0].type` must be one of: text, file. Parts are {"type":"text","text":"…"} and, for pictures and files, {"type":"file","mediaType":"image/png","data":"<base64>"}.',
        field: 'message.parts[0].type',
      },
    ],
  ])('the sentence for a refused request says what is accepted: %s', (_, body, refusal) => {
    expect(refusalOf(sendMessageBody, body)).toEqual(refusal);
  });

  test.each<[string, unknown, { text: string; field: string }]>([
    ['asks for two answers', asked('Hi', { n: 2 }), { text: '`n` must be 1.', field: 'n' }],
    [
      'holds a message of a function',
      { model: 'x', messages: [{ role: 'function', content: 'Hi' }] },
      {
        text: '`messages[0].role` must be one of: user, assistant, tool, system, developer.',
        field: 'messages[0].role',
      },
    ],
    [
      'holds a result that names no call',
      { model: 'x', messages: [{ role: 'tool', content: 'Hi' }] },
      {
        text: '`messages[0].tool_call_id` is missing: give a text.',
        field: 'messages[0].tool_call_id',
      },
    ],
    [
      'says neither a text nor parts',
      asked(5),
      {
        text: '`messages[0].content`: must be a text or a list of parts.',
        field: 'messages[0].content',
      },
    ],
    [
      'holds a part of sound',
      asked([{ type: 'text', text: 'Hi' }, { type: 'input_audio' }]),
      {
        text: '`messages[0].content[1].type` must be one of: text, image_url, file.',
        field: 'messages[0].content[1].type',
      },
    ],
    [
      'holds a picture as a bare address',
      asked([{ type: 'image_url', image_url: 'data:image/png;base64,aGk=' }]),
      {
        text: '`messages[0].content[0].image_url` must be an object.',
        field: 'messages[0].content[0].image_url',
      },
    ],
    [
      'holds a picture whose base64 is none',
      asked([{ type: 'image_url', image_url: { url: 'data:image/png;base64,***' } }]),
      {
        text: '`messages[0].content[0].image_url.url`: must be a data: URL in base64, or an https address.',
        field: 'messages[0].content[0].image_url.url',
      },
    ],
    [
      'brings a tool without its function',
      asked('Hi', { tools: [{ type: 'function' }] }),
      {
        text: '`tools[0].function` is missing: give an object with `name`, `description`, `parameters`.',
        field: 'tools[0].function',
      },
    ],
  ])('the sentence for an OpenAI client that %s says what is accepted', (_, body, refusal) => {
    expect(refusalOf(chatCompletionBody, body)).toEqual(refusal);
  });
});
