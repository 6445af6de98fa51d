import { collectErrorBlocks, findErrorBlocks } from '#shared/compaction/shorten-output.ts';
import { describe, expect, test } from 'vitest';

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
  [
    'Chinese',
    '开始\n错误:磁盘已满\n警告:内存不足\n上传失败\n完成',
    ['错误:磁盘已满', '警告:内存不足', '上传失败'],
  ],
  ['Korean', '시작\n오류: 디스크\n경고\n실패\n끝', ['오류: 디스크', '경고', '실패']],
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

  test('an over-long line keeps each of its errors with surrounding text', () => {
    const line = ['{"a": "error 1"', filler(5_000), 'エラー 2', filler(5_000), 'warning 3'].join(
      '',
    );

    const blocks = findErrorBlocks(`ok\n${line}\nok`);

    expect(blocks.map((block) => block.length)).toEqual([2_000, 2_000, 509]);
    expect(blocks.join('\n')).toMatch(/error 1[^]*エラー 2[^]*warning 3/);
  });

  test('an over-long line keeps a word across its end', () => {
    const line = `error ${filler(1_992)}warning 9 ${filler(3_000)}`;

    expect(findErrorBlocks(line).join('\n')).toContain('warning 9');
  });

  test('an over-long line keeps the trace behind it', () => {
    const [last] = findErrorBlocks(`${filler(3_000)}error 5\n  at f (a.ts:1)\nok`);

    expect(last).toMatch(/error 5\n {2}at f \(a\.ts:1\)$/);
  });

  test('an over-long line is shown only as far as there is room', () => {
    expect(collectErrorBlocks('error '.repeat(100_000), 5_000).length).toBeLessThanOrEqual(5_000);
  });
});
