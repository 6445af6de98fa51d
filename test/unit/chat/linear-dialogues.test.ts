import { expect, test } from 'vitest';
import { chatCompletionBody } from '#shared/wire/facades/openai.ts';

test('a chat completion with more messages than a dialogue may have is refused by the bound', () => {
  const body = {
    model: 'm',
    messages: Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'a' })),
  };

  expect(chatCompletionBody.safeParse(body).error?.issues).toMatchObject([
    { path: ['messages'], code: 'too_big', maximum: 10_000 },
  ]);
});
