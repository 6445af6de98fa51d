import { afterEach, describe, expect, test } from 'vitest';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { titlePrompt } from '#shared/titles/title-prompt.ts';
import { titleIn } from '#shared/titles/title-text.ts';
import { ask } from './client.ts';

let fakeGemini: FakeGemini | undefined;
afterEach(() => fakeGemini?.close());

async function named(user: string): Promise<string> {
  fakeGemini = await startFakeGemini();
  const turn = {
    user: { role: 'user' as const, parts: [{ text: user }] },
    contents: [{ role: 'model' as const, parts: [{ text: 'An answer.' }] }],
  };
  const { contents } = titlePrompt('gemini-3.1-flash-lite', [turn]);
  const { text } = await ask(
    fakeGemini,
    { contents },
    { role: 'utility_title', promptId: 't_1-title' },
  );
  return text;
}

describe('a conversation that is to be named', () => {
  test.each([
    ['Plan a trip to Kyoto. I like temples.', 'Plan a trip to Kyoto'],
    ['교토 여행을 계획해 주세요. 사원을 좋아해요.', '교토 여행을 계획해 주세요'],
    ['京都への旅行を計画して。', '京都への旅行を計画して'],
  ])(
    'the fake Gemini names a conversation by its user’s first sentence: %s',
    async (user, title) => {
      const text = await named(user);

      expect(text).toBe(title);
      expect(titleIn(text)).toBe(title);
    },
  );

  test('the fake Gemini’s conversation title fits one line', async () => {
    expect((await named('word '.repeat(200))).length).toBeLessThanOrEqual(60);
  });

  test('the fake Gemini names a conversation in which nothing was said', async () => {
    expect(await named('   ')).not.toBe('');
  });
});
