import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Part } from '#shared/models/content.ts';
import { ask, model, user } from './client.ts';
import { Journal } from '#infra/fake-gemini/server/journal.ts';

let fakeGemini: FakeGemini;
beforeEach(async () => {
  fakeGemini = await startFakeGemini();
});
afterEach(() => fakeGemini.close());

async function control(method: string, path: string, body?: object): Promise<[number, unknown]> {
  const response = await fetch(`${fakeGemini.url}/control/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return [response.status, await response.json()];
}

const hello = { contents: [user('Hello there.')] };

test('the fake Gemini’s journal is read and cleared while its numbers go on', async () => {
  await ask(fakeGemini, hello, { role: 'chat', promptId: 't_1' });
  const [, before] = await control('GET', 'journal');
  await control('DELETE', 'journal');
  await ask(fakeGemini, hello);
  const [, after] = await control('GET', 'journal');

  const entry = {
    n: 1,
    api: 'gemini',
    operation: 'generateContent',
    model: 'gemini-2.5-flash',
    role: 'chat',
    promptId: 't_1',
    promptTokens: 3,
    httpStatus: 200,
    finishReason: 'STOP',
  };
  expect(before).toMatchObject({ entries: [entry] });
  expect(after).toMatchObject({ entries: [{ n: 2 }] });
});

test('the fake Gemini’s journal keeps the newest 500 requests', () => {
  const journal = new Journal();
  const request = {
    api: 'gemini',
    operation: 'countTokens',
    model: 'gemini-2.5-flash',
    role: '',
    promptId: '',
    promptTokens: 0,
    cachedTokens: 0,
  } as const;
  for (let n = 1; n <= 501; n++) journal.open(request, '{}');

  expect(journal.entries().map(({ n }) => n)).toEqual(Array.from({ length: 500 }, (_, i) => i + 2));
});

describe('recorded answers', () => {
  const register = (text: string, ...answers: Part[]) =>
    fakeGemini.registerAnswers(
      ...answers.map((part, index) => ({
        conversation: 'c1',
        userHash: createHash('sha256').update(text).digest('hex'),
        ordinal: index + 1,
        contents: [{ role: 'model', parts: [part] }],
      })),
    );

  test('recorded answers are found by the user text and its ordinal, whatever the app adds, and a retry gets the same', async () => {
    register('line one\nline two', { text: 'First.' }, { text: 'Second.' });
    const said = user('line one', 'line two', 'It is 12:00 in Seoul.');

    const first = await ask(fakeGemini, { contents: [said] });
    const retry = await ask(fakeGemini, { contents: [said] });
    const second = await ask(fakeGemini, { contents: [said, model('First.'), said] });

    expect([first.text, retry.text, second.text]).toEqual(['First.', 'First.', 'Second.']);
    expect(fakeGemini.journal().at(-1)?.recorded).toEqual({ conversation: 'c1', ordinal: 2 });
  });

  test('an injected failure consumes no recorded answer, even when the retry has another prompt', async () => {
    register('yes', { text: 'First.' });
    fakeGemini.queueFaults({ kind: 'unavailable' }, { kind: 'safety' });

    await ask(fakeGemini, { contents: [user('yes', '12:00')] });
    await ask(fakeGemini, { contents: [user('yes', '12:01')] });
    const retry = await ask(fakeGemini, { contents: [user('yes', '12:02')] });

    expect(retry.text).toBe('First.');
  });

  test('the next recorded answer of a tool round follows the function response', async () => {
    register('seat?', { functionCall: { name: 'seat', args: {} } }, { text: '12A' });
    const gemini3 = { model: 'gemini-3.8-flash' };

    const called = await ask(fakeGemini, { contents: [user('seat?')] }, gemini3);
    const call = called.body.candidates?.[0]?.content;
    const response = { functionResponse: { name: 'seat', response: { seat: '12A' } } };
    const contents = [user('seat?'), call, { role: 'user', parts: [response] }];
    const answered = await ask(fakeGemini, { contents }, gemini3);

    expect(call?.parts?.[0]).toHaveProperty('thoughtSignature');
    expect(answered.text).toBe('12A');
  });
});
