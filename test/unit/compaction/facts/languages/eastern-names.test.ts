import { describe, expect, test } from 'vitest';
import { findEasternNames } from '#shared/compaction/facts/languages/eastern-names.ts';

const found = (text: string) =>
  findEasternNames(text).map(({ kind, start, end, isWeak }) => ({
    kind,
    text: text.slice(start, end),
    isSure: isWeak !== true,
  }));
const sure = (text: string) =>
  found(text)
    .filter(({ isSure }) => isSure)
    .map((one) => one.text);

describe('what a user of Chinese names', () => {
  test.each([
    ['想吃锅贴，附近有吗？', '锅贴', 'what is to be eaten'],
    ['请推荐一家有泡菜的餐馆', '泡菜', 'what a restaurant is to have'],
    ['想吃锅贴和三文鱼，有推荐吗？', '锅贴', 'the first of a row'],
    ['想吃锅贴和凉皮，有推荐吗？', '凉皮', 'the last of a row'],
    ['爱喝雪碧，哪家店有？', '雪碧', 'what the segmenter takes for two words'],
    ['我爱吃猪肠儿，哪家做得地道？', '猪肠儿', 'a name with the ending of Beijing'],
    ['能帮我找大碴子粥吗？', '大碴子粥', 'a name that begins with a common word'],
    ['那就去十渡山寨吧', '十渡山寨', 'a place that begins with a number'],
    ['听说角楼很好玩', '角楼', 'a place of two characters that no dictionary has'],
    ['帮我找个不免费的景点', '不免费', 'how something is wanted'],
    ['上海A. Palace酒店在哪？', '上海A. Palace酒店', 'a name with Latin words within'],
    ['大碗(前门店)的电话是多少？', '大碗(前门店)', 'a branch in brackets'],
  ])('a Chinese user’s naming in %j is %j: %s', (text, name) => {
    expect(sure(text)).toContain(name);
  });

  test.each([
    ['又去转转', 'a verb that is said twice'],
    ['今天真热闹，大家都高兴', 'a statement'],
    ['热门的学校都在那里', 'words that end as places do'],
    ['我的理想是画画', 'a word with 想 that asks for nothing'],
  ])('a Chinese user names nothing certain in %j: %s', (text) => {
    expect(sure(text)).toEqual([]);
  });

  test('a branch in the brackets of a Chinese name is not a second name', () => {
    expect(found('胜利涮羊肉(晋元庄店)多少钱？').map((one) => one.text)).toEqual([
      '胜利涮羊肉(晋元庄店)',
    ]);
  });

  test('a Chinese name counts as wanted only in the sentence that asks for it', () => {
    expect(sure('我们练习弹吉他。你知道几点开门吗？')).toEqual([]);
    expect(sure('请教我弹古典吉他。')).not.toEqual([]);
  });
});
