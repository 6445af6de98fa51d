import { describe, expect, test } from 'vitest';
import { parseEvalArguments } from '../eval-arguments.ts';
import { ArgumentError } from '../replay/replay-arguments.ts';

const files = ['--data', 'a.jsonl', '--out', 'b.jsonl'];

describe('the arguments of an evaluation', () => {
  test('have defaults', () => {
    expect(parseEvalArguments(files)).toEqual({
      dataPath: 'a.jsonl',
      outPath: 'b.jsonl',
      strategy: 'ledger',
      keepFraction: 0.3,
      model: 'stand-in',
      vices: {},
      seed: '1',
      repeat: 1,
      profile: 'assistant',
      limit: Number.POSITIVE_INFINITY,
      ids: [],
    });
  });

  test('name vices with and without a value', () => {
    expect(
      parseEvalArguments([...files, '--vices', 'forgetful=0.3, obedient', '--ids', 'a,b']),
    ).toMatchObject({ vices: { forgetful: 0.3, obedient: true }, ids: ['a', 'b'] });
  });

  test('name a threshold and what is tried', () => {
    expect(
      parseEvalArguments([...files, '--threshold', '48000', '--try', 'rounds=2']),
    ).toMatchObject({ thresholdTokens: 48_000, trial: { kind: 'rounds', rounds: 2 } });
  });

  test('name the folder of recorded answers', () => {
    expect(parseEvalArguments([...files, '--model', 'files', '--answers', 'dir'])).toMatchObject({
      model: 'files',
      answers: { folder: 'dir', isLoose: false },
    });
  });

  test.each([
    [['--out', 'b.jsonl'], '--data is missing'],
    [[...files, '--keep', '1'], '--keep takes a number between 0 and 1'],
    [[...files, '--vices', 'lazy=1'], '--vices'],
    [[...files, '--model', 'gemini-2.5-pro', '--vices', 'empty'], 'a real model has its own'],
    [[...files, '--model', 'files'], '--model files needs --answers DIR'],
    [[...files, '--loose'], '--answers and --loose need --model files'],
    [[...files, '--strategy', 'best'], '--strategy takes ledger or gemini-cli'],
    [[...files, '--price', '3'], '--price takes IN/OUT'],
    [[...files, '--threshold', '0'], '--threshold takes a whole number'],
    [[...files, '--try', 'rounds=3'], '--try takes'],
    [[...files, '--try', 'staged', '--strategy', 'gemini-cli'], '--try is of the strategy ledger'],
    [[...files, 'c.jsonl'], 'what is "c.jsonl"'],
  ])('%j are refused', (argv, message) => {
    expect(() => parseEvalArguments(argv)).toThrow(ArgumentError);
    expect(() => parseEvalArguments(argv)).toThrow(message);
  });
});
