import { describe, expect, test } from 'vitest';
import { parseChaosArguments } from '../chaos-arguments.ts';
import { ArgumentError } from '#lab/eval/replay/replay-arguments.ts';

describe('the arguments of a chaos run', () => {
  test('has a default for each', () => {
    expect(parseChaosArguments([])).toEqual({ minutes: 1, seed: '1', phones: 20, isJson: false });
  });

  test('reads all of them', () => {
    const given = '--minutes 0.5 --seed 42 --phones 3 --log logs --break fence --json'.split(' ');

    expect(parseChaosArguments(given)).toEqual({
      minutes: 0.5,
      seed: '42',
      phones: 3,
      logDirectory: 'logs',
      broken: 'fence',
      isJson: true,
    });
  });

  test('asks for help', () => {
    expect(parseChaosArguments(['--help'])).toBe('help');
  });

  test.each([
    [['--minutes', '0'], '--minutes'],
    [['--minutes', 'soon'], '--minutes'],
    [['--phones', '1.5'], '--phones'],
    [['--break', 'lease'], '--break'],
    [['--log', ''], '--log'],
    [['--seed', ''], '--seed'],
    [['--loud'], '--loud'],
    [['everything'], 'everything'],
  ])('refuses %j and names it', (given, named) => {
    expect(() => parseChaosArguments(given)).toThrow(ArgumentError);
    expect(() => parseChaosArguments(given)).toThrow(named);
  });
});
