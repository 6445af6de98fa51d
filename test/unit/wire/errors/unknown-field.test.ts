import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { createConversationBody } from '#shared/wire/resources/conversations.ts';
import { sendMessageBody } from '#shared/wire/resources/messages.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';

const message = {
  id: 'c5d5219c-ec19-4265-8aa7-bdae2d42e2b1',
  parts: [{ type: 'text', text: 'Hi' }],
};

type Schema = Parameters<typeof parseRequest>[0];

function refusalOf(schema: Schema, value: unknown): string {
  try {
    parseRequest(schema, value);
    return 'taken';
  } catch (error) {
    if (error instanceof AppError) return error.publicMessage;
    throw error;
  }
}

const onConversation = 'It is set on the conversation: PATCH /v1/conversations/{conversationId}.';

test.each<[string, [schema: Schema, body: unknown, advice: string]]>([
  ['model', [sendMessageBody, { message, model: 'm' }, onConversation]],
  [
    'responseSchema',
    [
      sendMessageBody,
      { message: { ...message, responseSchema: {} } },
      'It stands beside `message`, not in it.',
    ],
  ],
  [
    'thresholdTokens',
    [createConversationBody, { thresholdTokens: 2_000 }, 'It belongs into `settings`.'],
  ],
  [
    'message.content',
    [
      sendMessageBody,
      { message: { ...message, content: 'Hi' } },
      'The text goes into the parts of the message: [{"type":"text","text":"…"}].',
    ],
  ],
])('the field `%s` in a wrong place is refused with the right one', (_, given) => {
  const [schema, body, advice] = given;

  expect(refusalOf(schema, body)).toContain(advice);
});
