import { expect, test } from 'vitest';
import { textTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import {
  collect,
  connect,
  contents,
  describeWithEachReader,
  never,
  request,
  secret,
  fakeGemini,
  startFakeGeminiForEachTest,
  textOf,
  until,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

describeWithEachReader('a stream', () => {
  test('a model stream yields the answer in chunks with finishReason and cumulative usage last', async () => {
    const chunks = await collect(connect().stream(request, never));

    expect(textOf(chunks)).toBe(secret);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.findIndex((chunk) => chunk.finishReason === 'STOP')).toBe(chunks.length - 1);
    expect(chunks.at(-1)?.usage).toEqual({
      promptTokens: fakeGemini.journal()[0]?.promptTokens,
      cachedTokens: 0,
      outputTokens: textTokens(secret),
      thoughtsTokens: 0,
    });
  });

  test('a model request names role and prompt id in headers', async () => {
    await collect(connect().stream({ ...request, promptId: 'r1-verify é' }, never));

    expect(fakeGemini.journal()[0]).toMatchObject({ role: 'chat', promptId: 'r1-verify__' });
  });

  test('a model stream reports tokens from the implicit cache', async () => {
    const long: Content = { role: 'user', parts: [{ text: 'word '.repeat(4_000) }] };
    const gemini = connect();

    await collect(gemini.stream({ ...request, contents: [long] }, never));
    const again = await collect(
      gemini.stream({ ...request, contents: [long, ...contents] }, never),
    );

    expect(again.at(-1)?.usage?.cachedTokens).toBe(5_000);
  });

  test.each([1, 2, 3, 7])(
    'a model stream reads text whose bytes arrive %i at a time',
    async (sizeBytes) => {
      const text = '안녕하세요 👩‍👩‍👧 مرحبا, das sind 4-Byte-Zeichen: 💜💜💜.';
      fakeGemini.queueFaults({ kind: 'splitBytes', sizeBytes });
      const question: Content = { role: 'user', parts: [{ text: 'Which 4-Byte-Zeichen?' }] };

      const chunks = await collect(
        connect().stream(
          { ...request, contents: [{ role: 'user', parts: [{ text }] }, question] },
          never,
        ),
      );

      expect(textOf(chunks)).toBe(text);
    },
  );

  test('a model stream that is left early closes the connection', async () => {
    fakeGemini.setTiming({ tokensPerSecond: 20 });

    for await (const chunk of connect().stream(request, never)) {
      expect(chunk.parts).toHaveLength(1);
      break;
    }

    await until(() => fakeGemini.journal()[0]?.aborted === true);
  });
});
