import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { ask, askStream, model, textOfResponse, user } from './client.ts';

let fakeGemini: FakeGemini;
beforeEach(async () => {
  fakeGemini = await startFakeGemini();
});
afterEach(() => fakeGemini.close());

function register(text: string, ...answers: string[]): void {
  const userHash = createHash('sha256').update(text).digest('hex');
  fakeGemini.registerAnswers(
    ...answers.map((answer, index) => ({
      conversation: 'c1',
      userHash,
      ordinal: index + 1,
      contents: [{ role: 'model', parts: [{ text: answer }] }],
    })),
  );
}

describe('recorded answers', () => {
  test('recorded answers are found by the user text and its ordinal', async () => {
    register('yes', 'First.', 'Second.');

    const first = await ask(fakeGemini, { contents: [user('yes')] });
    const second = await ask(fakeGemini, { contents: [user('yes'), model('First.'), user('yes')] });

    expect([first.text, second.text]).toEqual(['First.', 'Second.']);
    expect(fakeGemini.journal()[1]?.recorded).toEqual({ conversation: 'c1', ordinal: 2 });
  });

  test('a retry of the identical prompt gets the same recorded answer and consumes none', async () => {
    register('yes', 'First.', 'Second.');

    const first = await ask(fakeGemini, { contents: [user('yes')] });
    const retry = await ask(fakeGemini, { contents: [user('yes')] });
    const second = await ask(fakeGemini, { contents: [user('a'), model('b'), user('yes')] });

    expect([first.text, retry.text, second.text]).toEqual(['First.', 'First.', 'Second.']);
  });

  test('an injected failure consumes no recorded answer, even when the retry has another prompt', async () => {
    register('yes', 'First.');
    fakeGemini.queueFaults({ kind: 'unavailable' }, { kind: 'safety' });

    await ask(fakeGemini, { contents: [user('yes', '12:00')] });
    await ask(fakeGemini, { contents: [user('yes', '12:01')] });
    const retry = await ask(fakeGemini, { contents: [user('yes', '12:02')] });

    expect(retry.text).toBe('First.');
  });

  test('recorded answers are found under the client context that the app adds', async () => {
    register('line one\nline two', 'Found.');

    const answer = await ask(fakeGemini, {
      contents: [user('an older message', 'line one', 'line two', 'It is 12:00 in Seoul.')],
    });

    expect(answer.text).toBe('Found.');
  });

  test('the next recorded answer of a tool round follows the function response', async () => {
    const userHash = createHash('sha256').update('seat?').digest('hex');
    fakeGemini.registerAnswers(
      {
        userHash,
        ordinal: 1,
        contents: [{ role: 'model', parts: [{ functionCall: { name: 'seat', args: {} } }] }],
      },
      { userHash, ordinal: 2, contents: [{ role: 'model', parts: [{ text: '12A' }] }] },
    );
    const gemini3 = { model: 'gemini-3.8-flash' };

    const called = await ask(fakeGemini, { contents: [user('seat?')] }, gemini3);
    const call = called.body.candidates?.[0]?.content;
    const response = { functionResponse: { name: 'seat', response: { seat: '12A' } } };
    const answered = await ask(
      fakeGemini,
      { contents: [user('seat?'), call, { role: 'user', parts: [response] }] },
      gemini3,
    );

    expect(call?.parts?.[0]).toHaveProperty('thoughtSignature');
    expect(answered.text).toBe('12A');
  });

  test('recorded answers stream in several events that never cut a character', async () => {
    const text =
      'Zum Beispiel 안녕하세요 👩‍👩‍👧 und noch viel mehr Text, damit es mehrere Stücke werden.';
    register('hi', text);

    const events = await askStream(fakeGemini, { contents: [user('hi')] });

    expect(events.length).toBeGreaterThan(3);
    expect(events.map((event) => textOfResponse(event)).join('')).toBe(text);
    expect(events.map((event) => textOfResponse(event).isWellFormed())).not.toContain(false);
    expect(events.filter((event) => event.candidates?.[0]?.finishReason)).toHaveLength(1);
  });
});
