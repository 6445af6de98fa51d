import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { ask, user } from './client.ts';
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

describe('control over HTTP', () => {
  test('the fake Gemini’s journal is read and cleared while its numbers go on', async () => {
    await ask(fakeGemini, hello, { role: 'chat', promptId: 't_1' });
    const [, before] = await control('GET', 'journal');
    await control('DELETE', 'journal');
    await ask(fakeGemini, hello);
    const [, after] = await control('GET', 'journal');

    expect(before).toMatchObject({
      entries: [
        {
          n: 1,
          api: 'gemini',
          operation: 'generateContent',
          model: 'gemini-2.5-flash',
          role: 'chat',
          promptId: 't_1',
          promptTokens: 3,
          httpStatus: 200,
          finishReason: 'STOP',
        },
      ],
    });
    expect(after).toMatchObject({ entries: [{ n: 2 }] });
  });

  test('a change of the fake Gemini’s timing affects an answer under way', async () => {
    await control('POST', 'timing', { timeToFirstTokenMs: 3_600_000 });
    const answered = ask(fakeGemini, hello);
    await expect.poll(() => fakeGemini.journal().length).toBe(1);

    await control('POST', 'timing', { timeToFirstTokenMs: 0 });

    expect((await answered).status).toBe(200);
  });

  test('the fake Gemini’s faults, misbehaviour, answers and timing can be set', async () => {
    const userHash = createHash('sha256').update('q').digest('hex');
    const contents = [{ role: 'model', parts: [{ text: 'Recorded.' }] }];

    const answers = [
      await control('POST', 'faults', { faults: [{ kind: 'internal', match: { role: 'judge' } }] }),
      await control('POST', 'vices', { inventive: true }),
      await control('POST', 'answers', { answers: [{ userHash, ordinal: 1, contents }] }),
      await control('POST', 'timing', { timeToFirstTokenMs: 1, tokensPerSecond: 1_000 }),
    ];
    const judged = await ask(fakeGemini, hello, { role: 'judge' });
    const recorded = await ask(fakeGemini, { contents: [user('q')] });

    expect(answers.map(([status]) => status)).toEqual([200, 200, 200, 200]);
    expect([judged.status, recorded.text]).toEqual([500, 'Recorded.']);
  });

  test.each([
    ['faults', { faults: [{ kind: 'earthquake' }] }],
    ['faults', { faults: [{ kind: 'cut', times: 0 }] }],
    ['vices', { inventiv: true }],
    ['answers', { answers: [{ userHash: 'x', ordinal: 1, contents: [] }] }],
  ])('the fake Gemini refuses a wrong body for %s with the reason', async (path, body) => {
    const [status, answer] = await control('POST', path, body);

    expect(status).toBe(400);
    expect(answer).toHaveProperty('problem');
  });

  test('an unknown control endpoint of the fake Gemini is 404', async () => {
    expect((await control('GET', 'weather'))[0]).toBe(404);
  });

  test('a matched fault hits as many requests as it says and no others', async () => {
    fakeGemini.queueFaults({ kind: 'unavailable', times: 2, match: { promptId: 'a' } });

    const statuses: number[] = [];
    for (const promptId of ['b', 'a', 'a', 'a']) {
      statuses.push((await ask(fakeGemini, hello, { promptId })).status);
    }

    expect(statuses).toEqual([200, 503, 503, 200]);
  });
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
