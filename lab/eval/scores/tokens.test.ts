import { expect, test } from 'vitest';
import { parseTokenTruth, tokenFigures } from './tokens.ts';

const line = (row: object) =>
  JSON.stringify({ repo: 'a/b', model: 'gemini-2.5-flash', api: 'mldev', ...row });
const output = (count: number, change: object = {}) =>
  line({ kind: 'output', content: 'a'.repeat(200), count, ...change });

const tool = { name: 'f', parameters_json_schema: { type: 'object', properties: {} } };
const prompt = {
  contents: [{ role: 'user', text: 'a'.repeat(100) }],
  system: [{ role: 'user', text: 'be kind' }],
  tools: [{ functionDeclarations: [tool] }],
};

test.each([
  ['an answer', { kind: 'output', content: 'Hello there' }, 'plain outputs'],
  ['an answer in Japanese', { kind: 'output', content: 'こんにちは、ABC' }, 'other scripts'],
  ['an answer in French', { kind: 'output', content: 'élève — déjà' }, 'plain outputs'],
  ['a prompt', { kind: 'prompt', content: [{ role: 'user', text: 'Hi' }] }, 'prompts'],
  ['a call', { kind: 'output-call', content: [{ name: 'f', args: null }] }, 'calls'],
  ['declarations', { kind: 'prompt+tools', content: prompt }, 'tools'],
  [
    'declarations of Vertex AI',
    { kind: 'prompt+tools', content: prompt, api: 'vertex' },
    'tools, schemas not counted',
  ],
])('the count of %s stands under its kind', (_, row, kind) => {
  expect(parseTokenTruth(line({ count: 3, ...row })).rows[0]?.kind).toBe(kind);
});

test('a count that no text can be made of is left out', () => {
  const pieces = line({ kind: 'output-call', content: [{ name: null }], count: 3 });

  expect(parseTokenTruth(`${pieces}\n${output(30)}\n`)).toMatchObject({
    rows: [{ count: 30 }],
    unreadable: 1,
  });
});

test('the figures tell the share within a fifth, the mean error and what is too low, held-out sources apart', () => {
  const text = [output(30), output(60), output(30, { repo: 'crmne/ruby_llm' })].join('\n');

  const figures = tokenFigures(parseTokenTruth(text).rows);

  expect(figures.filter(({ rule }) => rule === 'character-class')).toMatchObject([
    {
      texts: 'fitted, plain outputs',
      n: 2,
      within20: 0.5,
      meanError: -0.25,
      meanAbsoluteError: 0.25,
      tooLow: 0.5,
    },
    { texts: 'held out, plain outputs', n: 1, within20: 1 },
  ]);
});
