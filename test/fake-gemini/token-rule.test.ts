import { afterAll, describe, expect, test } from 'vitest';
import { cutToTokens, textTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { ask, model, user } from './client.ts';

const fakeGemini = await startFakeGemini();
afterAll(() => fakeGemini.close());

const vertexPath = '/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash';

describe('the token rule', () => {
  test.each([
    ['', 0],
    ['abcd', 1],
    ['abcde', 2],
    ['한국', 3],
    ['💜💜💜💜💜', 7],
    ['abcd한', 3],
  ])('the token rule counts %j as %i tokens', (text, tokens) => {
    expect(textTokens(text)).toBe(tokens);
  });

  test('the token rule never splits a surrogate pair', () => {
    expect(cutToTokens('a💜b', 1)).toBe('a');
    expect(cutToTokens('a💜b', 2)).toBe('a💜b');
  });
});

describe('one count everywhere', () => {
  const contents = [
    user('Mein Code ist ABC-123 💜 예약'),
    { role: 'model', parts: [{ functionCall: { name: 'find', args: { code: 'ABC-123' } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'find', response: { seat: '12A' } } }] },
    model('Sitz 12A.'),
    {
      role: 'user',
      parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { text: 'Was ist das?' }],
    },
  ];

  test('the fake Gemini’s countTokens equals promptTokenCount, on Vertex with system instruction and tools', async () => {
    const request = {
      contents,
      systemInstruction: user('You answer briefly.'),
      tools: [
        { functionDeclarations: [{ name: 'find', parametersJsonSchema: { type: 'object' } }] },
      ],
    };

    const bare = await ask(fakeGemini, { contents }, { operation: 'countTokens' });
    const generated = await ask(fakeGemini, { contents });
    const refused = await ask(fakeGemini, request, { operation: 'countTokens' });
    const whole = await ask(fakeGemini, request, { path: `${vertexPath}:countTokens` });
    const onVertex = await ask(fakeGemini, request, { path: `${vertexPath}:generateContent` });

    expect(bare.body.totalTokens).toBeGreaterThan(258);
    expect(generated.body.usageMetadata?.promptTokenCount).toBe(bare.body.totalTokens);
    expect(refused.status).toBe(400);
    expect(whole.body.totalTokens).toBeGreaterThan(bare.body.totalTokens ?? 0);
    expect(onVertex.body.usageMetadata?.promptTokenCount).toBe(whole.body.totalTokens);
  });

  test('the fake Gemini reports an answer with the tokens of its text', async () => {
    const asked = await ask(fakeGemini, {
      contents: [user('The gate code is 4711.'), model('Noted.'), user('What is the gate code?')],
    });

    expect(asked.text).toBe('The gate code is 4711.');
    expect(asked.body.usageMetadata?.candidatesTokenCount).toBe(textTokens(asked.text));
  });
});
