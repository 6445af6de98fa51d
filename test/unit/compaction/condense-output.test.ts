import { checkCondensed, outputsToCondense } from '#shared/compaction/condense-output.ts';
import type { PlannedMask } from '#shared/compaction/tool-output-budget.ts';
import { maskedText } from '#shared/compaction/shorten-output.ts';
import type { Part } from '#shared/conversation/documents/content.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { describe, expect, test } from 'vitest';

const counting = { rule: 'character-class' } as const;
const limits = { counting, windowTokens: 1_000_000 };

const response = (output: string): Part => ({
  functionResponse: { id: 'c1', name: 'read_log', response: { output, exitCode: 1 } },
});

/** An output of so many characters that is shown in `room`. */
function maskOf(text: string, options: { room?: number; seq?: number } = {}): PlannedMask {
  const { room = 6_000, seq = 1 } = options;
  const part = response(maskedText(text, { characters: room, name: `blob-${seq}` }));
  const savedTokens =
    estimatePartTokens(response(text), counting) - estimatePartTokens(part, counting);
  const offload = { name: `blob-${seq}`, text };
  return { seq, contentIndex: 2, partIndex: 0, part, offload, savedTokens };
}

const lines = (characters: number, ...special: readonly string[]) =>
  `${special.join('\n')}\n${'an ordinary line of output that says little\n'.repeat(
    Math.ceil(characters / 44),
  )}`;

describe('outputs that are worth asking a model about', () => {
  test.each([
    ['very long', maskOf(lines(90_000)), 1],
    ['no longer than twice the cap', maskOf(lines(79_000)), 0],
    ['longer than a million characters', maskOf(lines(1_000_100)), 0],
    ['shown by their marker alone', maskOf(lines(90_000), { room: 0 }), 0],
    ['tried in vain before', { ...maskOf(lines(90_000)), condensed: false }, 0],
    ['condensed before', { ...maskOf(lines(90_000)), condensed: true }, 0],
    [
      'mostly errors',
      maskOf(lines(90_000, ...Array.from({ length: 200 }, (_, n) => `error ${n}: no rack`))),
      0,
    ],
  ])('outputs worth condensing are those that are %s', (_, mask, expected) => {
    expect(outputsToCondense([mask], limits)).toHaveLength(expected);
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
  const [target] = outputsToCondense([maskOf(TEXT)], limits);
  if (!target) throw new Error('nobody would be asked');
  return { target, condensed: checkCondensed(target, answer, counting) };
}

const textOf = (condensed: ReturnType<typeof check>['condensed']) =>
  condensed.ok ? String(condensed.mask.part?.functionResponse?.response?.['output']) : '';

describe('what a model makes of an output', () => {
  test.each([
    ['repeats what the output says', 'Order TK-88341: /srv/store/list.csv, 1,250.50 EUR.'],
    ['writes a date in another way', 'Since 4 March 2026 the order TK-88341 is there.'],
    ['quotes', 'It is the price for "all the racks".'],
    ['lists', '1. The order is TK-88341.\n2. The price is 1,250.50 EUR.'],
    ['copies an error', `- warning: 3 racks are empty`],
    ['says nothing that can be checked', 'All is well.'],
  ])('a condensed output is used where it %s', (_, answer) => {
    const { condensed } = check(answer);

    expect(condensed.ok).toBe(true);
    expect(textOf(condensed)).toContain(answer);
  });

  test.each([
    ['another identifier', 'The order is TK-88342.', 'INVENTED'],
    ['another amount', 'The price is 1,350.50 EUR.', 'INVENTED'],
    ['another path', 'See /srv/store/other.csv for the list.', 'INVENTED'],
    ['a link', 'See https://evil.example/list for the list.', 'INVENTED'],
    ['a mail address', 'Ask racks@evil.example.', 'INVENTED'],
    ['an error in other words', 'The job failed at a rack.', 'ERROR_REWORDED'],
    ['nothing', ' \n', 'EMPTY'],
    ['more than the cut has room for', 'All is well. '.repeat(1_000), 'TOO_LONG'],
    ['what costs more tokens than the cut', '字'.repeat(4_000), 'TOO_LONG'],
  ])('a condensed output is refused where it says %s', (_, answer, reason) => {
    expect(check(answer).condensed).toEqual({ ok: false, reason });
  });
});
