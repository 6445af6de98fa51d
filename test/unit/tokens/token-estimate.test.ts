import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  estimateContentTokens,
  estimatePartTokens,
  estimatePromptTokens,
  estimateTextTokens,
} from '#shared/tokens/token-estimate.ts';

describe('estimateTextTokens by character class', () => {
  test.each([
    ['', 0],
    ['abcde', 1],
    ['a b c', 2],
    ['ABCDEFGHIJ', 3],
    ['one two three', 3],
    ['12345', 5],
    ['{}{}{', 3],
    ['가나다라마바사아자차', 13],
    ['漢字', 3],
    ['😀', 2],
    ['\ud83d', 1],
    ['a', 1],
  ])('estimateTextTokens of %j is %i', (text, tokens) => {
    expect(estimateTextTokens(text, 'character-class')).toBe(tokens);
  });

  test('estimateTextTokens has no cliff at 100,000 CJK characters', () => {
    expect(estimateTextTokens('字'.repeat(100_000), 'character-class')).toBe(130_000);
    expect(estimateTextTokens('字'.repeat(100_001), 'character-class')).toBe(130_002);
  });

  test('estimateTextTokens is exact over the blocks of a long text', () => {
    expect(estimateTextTokens('a'.repeat(5_000_000), 'character-class')).toBe(750_000);
  });
});

test.each([
  ['abcd', 1],
  ['abc', 0],
  ['1234', 1],
  ['字字字', 3],
  ['', 0],
])('estimateTextTokens in Gemini CLI’s rule gives %j %i tokens', (text, tokens) => {
  expect(estimateTextTokens(text, 'gemini-cli')).toBe(tokens);
});

describe('estimateContentTokens', () => {
  const response = { output: '字'.repeat(10_000) };

  test('estimateContentTokens counts a tool response like any other text', () => {
    const content = {
      role: 'user' as const,
      parts: [{ functionResponse: { name: 'read', response } }],
    };

    expect(estimateContentTokens(content, 'character-class')).toBeGreaterThanOrEqual(13_000);
    expect(estimateContentTokens(content, 'gemini-cli')).toBe(2_504);
  });

  test.each([
    ['an image before Gemini 3', 'image/png', 'gemini-2.5', 258],
    ['an image of Gemini 3', 'image/jpeg', 'gemini-3', 1_090],
    ['a PDF', 'application/pdf', 'gemini-2.5', 2_580],
    ['audio', 'audio/mp3', 'gemini-2.5', 1_920],
    ['audio of Gemini 3', 'audio/mp3', 'gemini-3', 1_500],
    ['video', 'video/mp4', 'gemini-2.5', 15_780],
    ['video of Gemini 3', 'video/mp4', 'gemini-3', 3_840],
  ] as const)(
    'estimateContentTokens prices %s by a constant, inline and by URI',
    (...[, mimeType, mediaFamily, tokens]) => {
      const counting = { rule: 'character-class', mediaFamily } as const;
      const inlineData = { mimeType, data: 'A'.repeat(400_000) };
      const fileData = { mimeType, fileUri: 'gs://bucket/file' };

      expect(estimatePartTokens({ inlineData }, counting)).toBe(tokens);
      expect(estimatePartTokens({ fileData }, counting)).toBe(tokens);
    },
  );

  test('estimateContentTokens prices media inside a function response as media', () => {
    const inlineData = { mimeType: 'image/png', data: 'A'.repeat(100_000) };
    const part = { functionResponse: { name: 'shot', response: {}, parts: [{ inlineData }] } };

    expect(estimatePartTokens(part, 'character-class')).toBeLessThan(300);
  });

  test('estimateContentTokens counts a part of an unknown kind as JSON', () => {
    const part = { executableCode: { language: 'PYTHON', code: 'print(1)'.repeat(100) } };

    expect(estimatePartTokens(part, 'character-class')).toBeGreaterThan(200);
  });

  test('estimateContentTokens does not count signatures', () => {
    const part = { text: 'hello', thoughtSignature: 'A'.repeat(10_000) };

    expect(estimatePartTokens(part, 'character-class')).toBe(1);
  });

  test.each([
    ['an image', { inlineData: { mimeType: 'image/png', data: 'AAAA' } }, 3_000],
    ['a PDF', { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }, 25_800],
    ['a call, a quarter of its JSON', { functionCall: { name: 'f', args: {} } }, 9],
  ])('estimateContentTokens prices %s as Gemini CLI does', (_, part, tokens) => {
    expect(estimatePartTokens(part, 'gemini-cli')).toBe(tokens);
  });
});

test('parts counted for several estimates cost the same each time', () => {
  const contents = [
    { role: 'user' as const, parts: [{ text: 'a question' }, { functionResponse: { name: 'f' } }] },
    { role: 'model' as const, parts: [{ functionCall: { name: 'f', args: { q: '質問' } } }] },
  ];
  for (const rule of ['character-class', 'gemini-cli'] as const) {
    const once = estimatePromptTokens({ contents }, { rule });
    const counting = { rule, weighed: new Map() };

    expect(estimatePromptTokens({ contents }, counting)).toBe(once);
    expect(estimatePromptTokens({ contents }, counting)).toBe(once);
    expect(counting.weighed.size).toBe(2);
  }
});

test('a prompt costs its contents, its system instruction and its tools', () => {
  const contents = [{ role: 'user' as const, parts: [{ text: 'a'.repeat(50) }] }];
  const bare = estimatePromptTokens({ contents }, 'character-class');
  const withSystem = estimatePromptTokens(
    { contents, systemInstruction: 'b'.repeat(100) },
    'character-class',
  );
  const withTools = estimatePromptTokens(
    { contents, tools: [{ name: 'lookUp', description: 'c'.repeat(100) }] },
    'character-class',
  );

  expect(bare).toBe(8);
  expect(withSystem).toBe(23);
  expect(withTools).toBeGreaterThan(27);
});

test('JSON punctuation costs less in a declaration than in text, except for Gemini CLI', () => {
  const tools = [{ name: 'lookUp', parametersJsonSchema: { type: 'object', properties: {} } }];
  const text = JSON.stringify(tools);

  const declared = estimatePromptTokens({ contents: [], tools }, 'character-class');

  expect(declared).toBeLessThan(0.8 * estimateTextTokens(text, 'character-class'));
  expect(estimatePromptTokens({ contents: [], tools }, 'gemini-cli')).toBe(
    estimateTextTokens(text, 'gemini-cli'),
  );
});

test('a long text costs its characters, wherever the first non-ASCII one stands', () => {
  const run = fc.tuple(
    fc.constantFrom('a', '7', '{', ' ', 'é', '漢', '👋'),
    fc.nat({ max: 9_000 }),
  );
  const costOf = new Map<string, number>();
  const cost = (character: string) => {
    const known =
      costOf.get(character) ??
      estimateTextTokens(character.repeat(100_000), 'character-class') / 1e5;
    costOf.set(character, known);
    return known;
  };
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
      const text = runs.map(([character, times]) => character.repeat(times)).join('');
      const expected = runs.reduce((sum, [character, times]) => sum + cost(character) * times, 0);

      expect(Math.abs(estimateTextTokens(text, 'character-class') - expected)).toBeLessThanOrEqual(
        1,
      );
    }),
    { numRuns: 50 },
  );
});
