import { afterAll, describe, expect, test } from 'vitest';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { SKIPPED, signPart } from '#infra/fake-gemini/server/refusals.ts';
import { ask, model, user } from './client.ts';

const fakeGemini = await startFakeGemini();
afterAll(() => fakeGemini.close());

const call = (name: string, thoughtSignature?: string) => ({
  role: 'model',
  parts: [{ functionCall: { name, args: {} }, ...(thoughtSignature && { thoughtSignature }) }],
});
const response = (...names: string[]) => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { name, response: { ok: true } } })),
});

test.each([
  ['no contents', [], 'contents is not specified'],
  ['a content without parts', [{ role: 'user', parts: [] }], 'parts must not be empty'],
  ['an unknown role', [{ role: 'system', parts: [{ text: 'x' }] }], 'valid role: user, model'],
  ['a model content first', [model('hello'), user('hi')], 'start with a user role'],
  [
    'a response without a call',
    [user('hi'), model('yes'), response('find')],
    'function response turn comes immediately after a function call turn',
  ],
  [
    'fewer responses than calls',
    [user('hi'), { role: 'model', parts: [...call('a').parts, ...call('b').parts] }, response('a')],
    'number of function response parts is equal to the number of function call parts',
  ],
  ['a call that nothing follows', [user('hi'), call('a')], 'number of function response'],
  ['the response of another call', [user('hi'), call('a'), response('b')], 'number of function'],
  [
    'a call after a model content',
    [user('hi'), model('so'), call('a'), response('a')],
    'function call turn comes immediately after a user turn',
  ],
])('the fake Gemini refuses %s', async (_, contents, message) => {
  const answer = await ask(fakeGemini, { contents });

  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
  expect(answer.body.error?.message).toContain(message);
});

describe('thought signatures on Gemini 3', () => {
  const gemini3 = { model: 'gemini-3.8-flash' };

  test('a Gemini 3 step needs a signature on its first call alone, in the current turn', async () => {
    const signed = call('a', signPart(gemini3.model, {}));
    const step = { role: 'model', parts: [...signed.parts, ...call('b').parts] };
    const unsigned = [user('hi'), call('a'), response('a')];

    const first = await ask(
      fakeGemini,
      { contents: [user('hi'), step, response('a', 'b')] },
      gemini3,
    );
    const missing = await ask(fakeGemini, { contents: unsigned }, gemini3);
    const later = await ask(
      fakeGemini,
      { contents: [...unsigned, model('done'), user('thanks')] },
      gemini3,
    );
    const older = await ask(fakeGemini, { contents: unsigned });

    expect([first.status, later.status, older.status]).toEqual([200, 200, 200]);
    expect(missing.body.error?.message).toContain('missing a thought_signature');
  });

  const FLASH = 'gemini-3.8-flash';
  const OLD = 'gemini-2.5-flash';
  const CORRUPTED = 'Corrupted thought signature.';

  test.each<[string, { asked: string; signature: string; message?: string }]>([
    ['takes its own', { asked: FLASH, signature: signPart(FLASH, {}) }],
    [
      'takes its own by its whole name',
      { asked: FLASH, signature: signPart(`models/${FLASH}`, {}) },
    ],
    ['takes the placeholder', { asked: FLASH, signature: SKIPPED }],
    ['of before Gemini 3 does not', { asked: OLD, signature: SKIPPED, message: CORRUPTED }],
    [
      'refuses that of another',
      { asked: FLASH, signature: signPart('gemini-3.1-pro-preview', {}), message: CORRUPTED },
    ],
    [
      'refuses it where it needs none',
      { asked: OLD, signature: signPart(FLASH, {}), message: CORRUPTED },
    ],
    ['refuses that of nobody', { asked: FLASH, signature: 'c2ln', message: CORRUPTED }],
  ])(
    'the thought-signature rule on Gemini 3: a model %s',
    async (_, { asked, signature, message }) => {
      const contents = [user('hi'), call('a', signature), response('a')];

      const answer = await ask(fakeGemini, { contents }, { model: asked });

      expect(answer.body.error?.message).toBe(message);
    },
  );
});
