import {
  shortenOutput,
  collectErrorBlocks,
  findErrorBlocks,
} from '#shared/conversation/context/shorten-output.ts';
import { toToolOutput } from '#shared/conversation/context/tool-calls.ts';
import type { Part } from '#shared/models/content.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';

const NAME = 'b'.repeat(64);
const counting = { rule: 'character-class' } as const;
const options = { blobName: () => NAME, counting };

const part = (response: Record<string, unknown>, name = 'run'): Part => ({
  functionResponse: { id: '1', name, response },
});
const shorten = (whole: Part) => shortenOutput(whole, options);
const textOf = (shown: Part) => toToolOutput(shown)?.text ?? '';
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

describe('an output that is too long', () => {
  test('a shortened output keeps its first fifth, last four fifths, errors and read-back hint', () => {
    const whole = lines(4_000, (at) =>
      at === 2_000 ? 'ERROR: disk full' : `row ${at} of the log`,
    );

    const text = textOf(shorten(part({ output: whole, exitCode: 1 })));

    expect(text.startsWith('row 0 of the log')).toBe(true);
    expect(text.endsWith('row 3999 of the log')).toBe(true);
    expect(text).toContain(`read_blob("${NAME}") returns the full text.`);
    expect(text).toContain('ERROR: disk full');
    const [head = '', tail = ''] = text.split(/\n\[\d+ of [^\]]+\]\n/u);
    expect(tail.length / head.length).toBeGreaterThan(3.5);
    expect(text.length).toBeLessThan(41_000);
  });

  test.each([
    ['', 'lines of any length', (at: number) => 'word '.repeat(at < 200 ? 1 : 1 + (at % 7))],
    ['', 'lines of which the first are long', (at: number) => 'x '.repeat(at < 150 ? 40 : 1)],
    ['\n', 'a line end behind the last', (at: number) => `row ${at}`],
    ['\n', 'line ends of two characters', (at: number) => `row ${at}\r`],
  ])(
    'an output of more than 1,000 lines keeps its first 200 and last 800: %j, %s',
    (end, _, line) => {
      const all = Array.from({ length: 3_000 }, (__, at) => line(at));

      const text = textOf(shorten(part({ output: all.join('\n') + end })));

      const [head = '', tail = ''] = text.split(/\n\[\d+ of [^\]]+\]\n/u);
      expect(head.split('\n')).toEqual(all.slice(0, 200));
      expect(tail.replace(/\n$/u, '').split('\n')).toEqual(all.slice(-800));
    },
  );

  test.each([
    ['bytes', '\u0000\u0001\u0002a'.repeat(1_000)],
    ['base64', 'iVBORw0KGgoAAAANSUhEUg'.repeat(500)],
  ])('an output is left out whole where it is %s', (_, output) => {
    expect(textOf(shorten(part({ output })))).toBe(
      `[${output.length} of ${output.length} characters left out; read_blob("${NAME}") returns the full text.]`,
    );
  });
});

test.each([
  ['a short one', part({ output: 'ok' })],
  ['one of the cap', part({ output: 'a b c d '.repeat(5_000) })],
  ['a page that was read back', part({ output: 'word '.repeat(20_000) }, 'read_blob')],
  ['one without a response', { functionResponse: { name: 'run' } }],
  ['words', { text: 'word '.repeat(20_000) }],
])('an output stays unchanged: %s', (_, whole: Part) => {
  expect(shorten(whole)).toBe(whole);
});

test('no shortened output gets longer or loses half a character', () => {
  const texts = fc
    .tuple(
      fc.array(fc.constantFrom('🙂', 'row', '\n', 'error: x\n', '한국', '\u0000'), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.integer({ min: 1, max: 12_000 }),
    )
    .map(([pieces, times]) => pieces.join(' ').repeat(times));
  fc.assert(
    fc.property(texts, (output) => {
      const whole = part({ output });
      const short = shorten(whole);

      expect(estimatePartTokens(short, counting)).toBeLessThanOrEqual(
        estimatePartTokens(whole, counting),
      );
      expect(textOf(short).isWellFormed()).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test.each<[string, string, string[]]>([
  ['none', 'all\nis well', []],
  ['a line', 'ok\nERROR: disk full\nok', ['ERROR: disk full']],
  ['a stack trace', 'TypeError: x\n    at f (a.ts:1)\nok', ['TypeError: x\n    at f (a.ts:1)']],
  ['the same twice', 'warning: x\nok\nwarning: x', ['warning: x']],
  [
    'Japanese',
    '開始\nエラー: 接続できません\n警告: 残り 1 GB\n失敗しました\n終了',
    ['エラー: 接続できません', '警告: 残り 1 GB', '失敗しました'],
  ],
])('the error blocks of a text: %s', (_, text, blocks) => {
  expect(findErrorBlocks(text)).toEqual(blocks);
});

describe('a line that is too long to be kept', () => {
  const filler = (characters: number) =>
    'ab '.repeat(Math.ceil(characters / 3)).slice(0, characters);

  test.each([0, 400, 1_990, 1_997, 2_000, 40_000, 399_000])(
    'an over-long line keeps an error at place %i',
    (place) => {
      const line = `${filler(place)}error: disk 7 full${filler(400_000 - place)}`;

      const blocks = findErrorBlocks(line);

      expect(blocks).toHaveLength(1);
      expect(blocks[0]).toContain('error: disk 7 full');
      expect(blocks[0]?.length).toBeLessThanOrEqual(2_000);
      expect(line).toContain(blocks[0]);
    },
  );

  test('an over-long line is shown only as far as there is room', () => {
    expect(collectErrorBlocks('error '.repeat(100_000), 5_000).length).toBeLessThanOrEqual(5_000);
  });
});
