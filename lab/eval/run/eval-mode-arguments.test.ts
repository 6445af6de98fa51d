import { describe, expect, test } from 'vitest';
import { parseModeArguments } from '../eval-mode-arguments.ts';
import { ArgumentError } from '../replay/replay-arguments.ts';

const defaults = { strategies: 'ledger,gemini-cli', repeat: '10', vices: 'forgetful=0.2' };

describe('the arguments of a command beside the evaluation', () => {
  test('have the defaults of the command', () => {
    expect(parseModeArguments(['--data', 'a', '--data', 'b'], defaults)).toEqual({
      dataPaths: ['a', 'b'],
      strategies: ['ledger', 'gemini-cli'],
      keepFraction: 0.3,
      model: 'stand-in',
      seed: '1',
      vices: { forgetful: 0.2 },
      repeat: 10,
      profile: 'assistant',
      limit: Number.POSITIVE_INFINITY,
      ids: [],
    });
  });

  test('set what is measured', () => {
    const argv = ['--data', 'a', '--strategies', 'gemini-cli', '--vices', '', '--json', 'out'];

    expect(parseModeArguments(argv, defaults)).toMatchObject({
      strategies: ['gemini-cli'],
      vices: {},
      jsonPath: 'out',
    });
  });

  test('let recorded answers speak in the place of the stand-in, without its vices', () => {
    const argv = ['--data', 'a', '--model', 'files', '--answers', 'dir', '--loose'];

    expect(parseModeArguments(argv, defaults)).toMatchObject({
      model: 'files',
      answers: { folder: 'dir', isLoose: true },
      vices: {},
    });
  });

  test.each([
    [[], '--data is missing'],
    [['--data', 'a', '--model', 'files'], 'needs --answers DIR'],
    [['--data', 'a', '--answers', 'dir'], 'need --model files'],
    [
      ['--data', 'a', '--model', 'files', '--answers', 'dir', '--vices', 'empty'],
      '--vices are those of the stand-in',
    ],
    [['--data', 'a', '--strategies', 'best'], '--strategies takes'],
    [['--data', 'a', '--repeat', '0'], '--repeat takes a whole number'],
    [['--data', 'a', 'b'], 'what is "b"'],
  ])('%j are refused', (argv, message) => {
    expect(() => parseModeArguments(argv, defaults)).toThrow(ArgumentError);
    expect(() => parseModeArguments(argv, defaults)).toThrow(message);
  });
});
