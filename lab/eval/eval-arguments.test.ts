import { describe, expect, test } from 'vitest';
import { parseEvalArguments } from './eval-arguments.ts';
import { ArgumentError } from './replay/replay-arguments.ts';

const files = ['--data', 'a.jsonl', '--out', 'b.jsonl'];

describe('the arguments of an evaluation', () => {
  test('have defaults', () => {
    expect(parseEvalArguments(files)).toEqual({
      dataPath: 'a.jsonl',
      outPath: 'b.jsonl',
      strategy: 'ledger',
      keepFraction: 0.3,
      model: 'stand-in',
      repeat: 1,
      profile: 'assistant',
      limit: Number.POSITIVE_INFINITY,
      ids: [],
    });
  });

  test('name a threshold, a strategy, a price and conversations', () => {
    const argv = '--threshold 48000 --strategy gemini-cli --price 0.3/2.5 --ids a,b'.split(' ');

    expect(parseEvalArguments([...files, ...argv])).toMatchObject({
      thresholdTokens: 48_000,
      strategy: 'gemini-cli',
      price: { input: 0.3, output: 2.5 },
      ids: ['a', 'b'],
    });
  });

  test('name the folder of recorded answers', () => {
    const argv = ['--model', 'files', '--answers', 'dir', '--loose'];

    expect(parseEvalArguments([...files, ...argv])).toMatchObject({
      model: 'files',
      answers: { folder: 'dir', isLoose: true },
    });
  });

  test.each([
    [['--out', 'b.jsonl'], '--data is missing'],
    [[...files, '--keep', '1'], '--keep takes a number between 0 and 1'],
    [[...files, '--model', 'files'], '--model files needs --answers DIR'],
    [[...files, '--loose'], '--answers and --loose need --model files'],
    [[...files, '--strategy', 'best'], '--strategy takes ledger or gemini-cli'],
    [[...files, '--price', '3'], '--price takes IN/OUT'],
    [[...files, '--threshold', '0'], '--threshold takes a whole number'],
    [[...files, '--repeat', '0'], '--repeat takes a whole number'],
    [[...files, 'c.jsonl'], "Unexpected argument 'c.jsonl'"],
  ])('%j are refused', (argv, message) => {
    expect(() => parseEvalArguments(argv)).toThrow(ArgumentError);
    expect(() => parseEvalArguments(argv)).toThrow(message);
  });
});
