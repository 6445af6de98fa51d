import { expect, test } from 'vitest';
import { decideToolResults } from '#shared/conversation/context/tool-results.ts';
import { chatCompletionBody, type OpenAiMessage } from '#shared/wire/facades/openai.ts';
import { createResponseBody } from '#shared/wire/facades/responses/request.ts';
import { decideHistory } from '#functions/chat/facades/ai-sdk/history-decision.ts';
import { toContents } from '#functions/chat/facades/openai/message-content.ts';
import { toChatBody } from '#functions/chat/facades/responses/to-chat-body.ts';
import { workRatio } from '#test/support/work-ratio.ts';

const limits = { maxPartBytes: 100_000, maxMessageBytes: 100_000 };
const reading = { limits, openSignature: () => undefined };
const user: OpenAiMessage = { role: 'user', content: 'a' };
const call = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'f', arguments: '' },
});
const asks = (id: string): OpenAiMessage => ({ role: 'assistant', tool_calls: [call(id)] });
const gives = (id: string): OpenAiMessage => ({ role: 'tool', tool_call_id: id, content: '1' });
const numbers = (text: string) => Array.from(text, (_, index) => index);

test.each<[string, (text: string) => unknown]>([
  [
    'messages of the user in a row',
    (text) =>
      toContents(
        numbers(text).map(() => user),
        reading,
      ),
  ],
  [
    'calls of functions, each with its result',
    (text) =>
      toContents(
        numbers(text).flatMap((n) => [asks(String(n)), gives(String(n))]),
        reading,
      ),
  ],
  [
    'results of one call in a row',
    (text) => toContents([asks('1'), ...numbers(text).map(() => gives('1'))], reading),
  ],
  [
    'items of the Responses API',
    (text) => {
      const input = numbers(text).map(() => ({ role: 'user', content: 'a' }));
      const { body } = toChatBody(createResponseBody.parse({ input }), false);
      toContents(body.messages, reading);
    },
  ],
  [
    'messages of the AI SDK that name the answer before the last',
    (text) =>
      decideHistory({
        before: numbers(text).map((index) => ({ index, names: { answerOf: 399 }, text: '' })),
        turns: Array.from({ length: 400 }, (_, index) => ({
          seq: index + 1,
          messageId: `u${index}`,
          text: '',
          replacedBy: [],
          isErased: false,
          counts: true,
        })),
        claim: undefined,
      }),
  ],
  [
    'results that are stored already',
    (text) => {
      const contents = numbers(text).flatMap(() => [
        { role: 'model' as const, parts: [{ functionCall: { name: 'f', args: {} } }] },
        {
          role: 'user' as const,
          parts: [{ functionResponse: { name: 'f', response: { output: 1 } } }],
        },
      ]);
      const rounds = { count: 1, step: 1, frames: [], app: [0], usages: [] };
      decideToolResults(
        { seq: 1, state: 'awaiting_tool', contents, rounds },
        numbers(text).map(() => ({ callId: 't_1_c0', kind: 'response', response: { output: 1 } })),
      );
    },
  ],
])('the work of a request grows with the number of %s, not with its square', (_, work) => {
  expect(workRatio(work, 'x'.repeat(1_000), 'x'.repeat(10_000))).toBeLessThan(30);
});

test('a chat completion with more messages than a dialogue may have is refused by the bound', () => {
  const body = { model: 'm', messages: Array.from({ length: 10_001 }, () => user) };

  expect(chatCompletionBody.safeParse(body).error?.issues).toMatchObject([
    { path: ['messages'], code: 'too_big', maximum: 10_000 },
  ]);
});
