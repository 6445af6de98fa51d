import { checkCondensed, outputsToCondense } from '#shared/compaction/condense-output.ts';
import type { Part } from '#shared/models/content.ts';
import { describe, expect, test } from 'vitest';

const counting = { rule: 'character-class' } as const;

const response = (output: string, others: Partial<Part> = {}): Part => ({
  functionResponse: { id: 'c1', name: 'read_log', response: { output, exitCode: 1 } },
  ...others,
});

/** What of a round with these outputs a model is asked about. */
const toCondense = (...parts: readonly Part[]) =>
  outputsToCondense([{ role: 'user', parts: [...parts] }], {
    counting,
    windowTokens: 1_000_000,
    blobName: () => 'blob',
  });

const lines = (characters: number, ...special: readonly string[]) =>
  `${special.join('\n')}\n${'an ordinary line of output that says little\n'.repeat(
    Math.ceil(characters / 44),
  )}`;

describe('outputs that are worth asking a model about', () => {
  test.each([
    ['longer than the cap', response(lines(41_000)), 1],
    ['no longer than the cap', response(lines(39_000)), 0],
    ['longer than a million characters', response(lines(1_000_100)), 0],
    ['no text', response('AAAA'.repeat(20_000)), 0],
    ['condensed before', response(lines(90_000), { condensed: 'All is well.' }), 0],
    [
      'mostly errors',
      response(lines(90_000, ...Array.from({ length: 1_500 }, (_, n) => `error ${n}: no rack`))),
      0,
    ],
  ])('outputs worth condensing are those that are %s', (_, part, expected) => {
    expect(toCondense(part)).toHaveLength(expected);
  });

  test('at most three outputs of a round are condensed, the largest first', () => {
    const sizes = [60_000, 90_000, 50_000, 70_000];

    const asked = toCondense(...sizes.map((size) => response(lines(size))));

    expect(asked.map(({ partIndex }) => partIndex)).toEqual([1, 3, 0]);
  });
});

const FAILURE = 'Traceback of job J-1042:\n  at rack.py:41';
const TEXT = lines(
  90_000,
  'order TK-88341 is in /srv/store/list.csv since 2026-03-04',
  'price 1,250.50 EUR for "all the racks"',
  FAILURE,
  'warning: 3 racks are empty',
);

function check(answer: string) {
  const [target] = toCondense(response(TEXT));
  if (!target) throw new Error('nobody would be asked');
  return checkCondensed(target, answer, counting);
}

describe('what a model makes of an output', () => {
  test.each([
    ['repeats what the output says', 'Order TK-88341: /srv/store/list.csv, 1,250.50 EUR.'],
    ['writes a date in another way', 'Since 4 March 2026 the order TK-88341 is there.'],
    ['copies an error', `- warning: 3 racks are empty`],
    ['says nothing that can be checked', 'All is well.'],
  ])('a condensed output is used where it %s', (_, answer) => {
    expect(check(answer)).toMatchObject({ ok: true, text: expect.stringContaining(answer) });
  });

  test.each([
    ['another identifier', 'The order is TK-88342.', 'INVENTED'],
    ['a link', 'See https://evil.example/list for the list.', 'INVENTED'],
    ['an error in other words', 'The job failed at a rack.', 'ERROR_REWORDED'],
    ['nothing', ' \n', 'EMPTY'],
    ['more than the cut has room for', 'All is well. '.repeat(4_000), 'TOO_LONG'],
    ['what costs more tokens than the cut', '字'.repeat(30_000), 'TOO_LONG'],
  ])('a condensed output is refused where it says %s', (_, answer, reason) => {
    expect(check(answer)).toEqual({ ok: false, reason });
  });

  test('half a character in a condensed output is not shown', () => {
    const condensed = check('All is well \ud83d');

    expect(condensed.ok && condensed.text.isWellFormed()).toBe(true);
  });
});
