import { describe, expect, test } from 'vitest';
import { tokenFigures } from './tokens.ts';
import { parseTokenTruth } from './token-truth.ts';

const server = { repo: 'a/b', path: 'one.json', model: 'gemini-2.5-flash', api: 'mldev' };
const line = (row: object) => JSON.stringify({ id: 'x', ...server, ...row });
const output = (count: number, change: object = {}) =>
  line({ kind: 'output', content: 'a'.repeat(200), count, ...change });
const ownRule = (text: string, heldOut: readonly string[] = []) =>
  tokenFigures(parseTokenTruth(text).rows, heldOut).filter(
    ({ rule }) => rule === 'character-class',
  );

describe('counts that servers reported', () => {
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
  ])('%s stand under their kind', (_, row, kind) => {
    expect(parseTokenTruth(line({ count: 3, ...row })).rows[0]?.kind).toBe(kind);
  });

  test('count the declarations that a prompt brings along', () => {
    const withTools = parseTokenTruth(line({ kind: 'prompt+tools', content: prompt, count: 9 }));
    const without = { ...prompt, tools: [] };
    const bare = parseTokenTruth(line({ kind: 'prompt+tools', content: without, count: 9 }));

    const [tokens, bareTokens] = [withTools, bare].map(({ rows }) =>
      rows[0]?.estimate('character-class'),
    );

    expect(tokens).toBeGreaterThan((bareTokens ?? 0) + 10);
  });

  test('that no text can be made of are left out and counted', () => {
    const pieces = line({ kind: 'output-call', content: [{ name: null }], count: 3 });

    expect(parseTokenTruth(`${pieces}\n${output(30)}\n`)).toMatchObject({
      rows: [{ count: 30 }],
      unreadable: 1,
    });
  });
});

describe('the figures', () => {
  test('tell the share within a fifth, the mean error and what is too low', () => {
    const [figures] = ownRule([output(30), output(60)].join('\n'));

    expect(figures?.long).toEqual({
      n: 2,
      within20: 0.5,
      meanError: -0.25,
      meanAbsoluteError: 0.25,
      tooLow: 0.5,
    });
  });

  test('keep rows of held-out sources apart', () => {
    const figures = ownRule([output(30), output(60, { repo: 'c/d' })].join('\n'), ['c/d']);

    expect(figures.map(({ part, all }) => [part, all.n])).toEqual([
      ['dev', 1],
      ['held-out', 1],
    ]);
  });

  test('calibrate a row by the prompts before it in its recording, not by those after it', () => {
    const prompt = (count: number) =>
      line({ kind: 'prompt', content: [{ role: 'user', text: 'a'.repeat(200) }], count });
    const reported = Array.from({ length: 20 }, () => prompt(61));

    const after = ownRule([...reported, output(61)].join('\n'));
    const before = ownRule([output(61), ...reported].join('\n'));

    const share = (figures: ReturnType<typeof ownRule>) =>
      figures.find(({ kind }) => kind === 'plain outputs')?.calibrated.within2;
    expect([share(after), share(before)]).toEqual([1, 0]);
  });
});
