import { expect, test } from 'vitest';
import { decideToolResults } from '#shared/conversation/context/tool-results.ts';
import { chatCompletionBody } from '#shared/wire/facades/openai.ts';
import {
  lastMessage,
  outputsAtEnd,
  type DialogueMessage,
} from '#functions/chat/facades/translation/dialogue.ts';
import { workRatio } from '#test/support/work-ratio.ts';

const said = (role: DialogueMessage['role']): DialogueMessage => ({
  role,
  content: 'a',
  field: 'messages',
});
const user = said('user');
const numbers = (text: string) => Array.from(text, (_, index) => index);

test.each<[string, (text: string) => unknown]>([
  [
    'messages of the user in a row',
    (text) =>
      lastMessage(
        numbers(text).map(() => user),
        { joins: true, field: 'messages' },
      ),
  ],
  [
    'questions, each with its answer',
    (text) =>
      lastMessage([...numbers(text).flatMap(() => [user, said('assistant')]), user], {
        joins: false,
        field: 'messages',
      }),
  ],
  [
    'results of calls in a row',
    (text) => outputsAtEnd([user, ...numbers(text).map(() => said('output'))]),
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
  const body = {
    model: 'm',
    messages: Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'a' })),
  };

  expect(chatCompletionBody.safeParse(body).error?.issues).toMatchObject([
    { path: ['messages'], code: 'too_big', maximum: 10_000 },
  ]);
});
