import {
  createFinder,
  QUERY_UNITS_MAX,
  readSearchQuery,
  countUnits,
  cutSnippet,
} from '#shared/search/find-in-text.ts';
import { isHit, textScores } from '#shared/search/rank-texts.ts';
import { expect, test } from 'vitest';

const found = (text: string, q: string) => createFinder(readSearchQuery(q))(text);
const isFound = (text: string, q: string) => isHit(found(text, q));

const snippet = (text: string, q: string) => cutSnippet(text, found(text, q).places, q.length);

test.each([
  ['words', 'A boat at sea. ', 'boat'],
  ['characters without spaces', '京都へ旅行に行きます。', '旅行'],
  ['lines', 'ORD-48213 was sent on 2024-05-12\n', '2024'],
])('a search through a long text misses nothing: %s', (_, line, q) => {
  const lines = Math.ceil(50_000 / line.length);

  const { counts, length, places } = found(line.repeat(lines), q);

  const once = found(line, q);
  expect(counts).toEqual(once.counts.map((count) => count * lines));
  expect(length).toBeCloseTo(once.length * lines);
  expect(places.at(-1)?.index).toBe(63 * line.length + (once.places[0]?.index ?? 0));
});

test.each([
  ['a word in another case', 'The BOAT sank.', 'boat'],
  ['a word by its beginning', 'My allergies got worse.', 'allerg'],
  ['a word without its accent', 'A café in Zürich', 'cafe zurich'],
  ['Korean in decomposed form', '저는 견과류를 못 먹어요.'.normalize('NFD'), '견과류'],
  ['Chinese within a sentence', '我下周要去东京出差。', '东京'],
  ['Japanese kana and kanji', '来週、京都へ旅行に行きます。', '旅行'],
  ['a plural by its singular', 'Two boats and three ladies', 'boat lady'],
  ['another tense', 'We stopped hiking and tried the ferries.', 'stop hike try ferry'],
  ['an irregular verb', 'She bought it and wrote home.', 'buy write'],
  ['an amount however it is separated', 'That is $1,250.00 in all.', '1250.00'],
  ['a word among question words', 'It was in Lisbon.', 'Where was Lisbon?'],
])('a search finds %s', (...[, text, q]) => {
  expect(isFound(text, q)).toBe(true);
});

test.each([
  ['half of a short Chinese word', '他们的首都', '京都'],
  ['a stretch of characters across other words', '오늘 비가 행사', '비행'],
  ['a word that only ends so', 'The lifeboat', 'boat'],
  ['one word of four', 'The boat', 'boat harbour tickets monday'],
  ['a text without letters', '🙂 … !', 'boat'],
  ['half of an amount', 'It costs 12.50.', '2.50'],
])('a search does not treat %s as a hit', (...[, text, q]) => {
  expect(isFound(text, q)).toBe(false);
});

test('a search ranks a short text higher when its neighbour matches', () => {
  const scores = (before: string, elsewhere: string) =>
    textScores(
      [before, 'The red one, in May.', 'Fine.', elsewhere, 'The red door.'].map((text) =>
        found(text, 'red boat'),
      ),
    );
  const [short, long] = ['Which boat?', 'Which boat?'.padEnd(6_000, ' and so on')];

  const [, besideShort = 0, , , alone = 0] = scores(short, long.replace('boat', 'one'));
  const [, besideLong = 0] = scores(long, short.replace('boat', 'one'));

  expect(besideShort).toBeGreaterThan(alone * 1.1);
  expect(besideLong).toBeLessThan(besideShort);
});

test('a search uses at most 32 terms, however long the query', () => {
  const query = readSearchQuery('가나다라마바사아자차카타파하'.repeat(8) + ' word '.repeat(40));

  expect(countUnits(query)).toBeLessThanOrEqual(QUERY_UNITS_MAX);
});

test('a snippet is one line around the hit, with dots for omitted text', () => {
  const text = `${'before '.repeat(30)}\n\n the boat \n${'after '.repeat(40)}`;

  const line = snippet(text, 'boat');

  expect(line).toMatch(/^…(?:\S+ )+the boat after .*…$/);
  expect(line).not.toContain('\n');
  expect(line.length).toBeLessThan(210);
});

test.each([
  ['families of emoji', '👩‍👩‍👧‍👦'],
  ['decomposed Hangul', '한'.normalize('NFD')],
])('a snippet cuts no grapheme of %s', (_, cluster) => {
  for (let shift = 0; shift < 12; shift++) {
    const side = 'x'.repeat(shift) + cluster.repeat(80);
    const line = snippet(`${side} boat ${side}`, 'boat');

    const segments = [...new Intl.Segmenter('en').segment(line)].map(({ segment }) => segment);
    const whole = new Set([cluster, 'x', ' ', '…', 'b', 'o', 'a', 't']);
    expect(line).toContain('boat');
    expect(segments.filter((segment) => !whole.has(segment))).toEqual([]);
  }
});
