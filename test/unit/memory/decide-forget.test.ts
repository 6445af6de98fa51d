import { expect, test } from 'vitest';
import { decideForget } from '#shared/memory/decide-forget.ts';
import { noteOf } from './notes.ts';

/** What becomes of a wish: the id that is forgotten, the ids to choose from, or why there is none. */
function decided(
  notes: readonly string[],
  asked: { id?: string; query?: string },
  messages: readonly string[],
): string | string[] {
  const stored = notes.map((text, i) => noteOf(i + 1, { text, id: text }));
  const decision = decideForget(stored, asked, messages);
  switch (decision.kind) {
    case 'forget':
      return decision.note.id;
    case 'choose':
      return decision.notes.map(({ id }) => id);
    case 'unknown':
    case 'notSaid':
      return decision.kind;
  }
}

const car = 'I drive a blue car.';
const redCar = 'My red car is in the garage.';
const house = 'I live in a blue house.';
const nuts = 'I am allergic to hazelnuts.';

test.each<[string, string[], string, string[], string | string[]]>([
  ['all words fit', [car, house], car, ['Forget my blue car, please.'], car],
  ['one word fits', [house], house, ['Forget my blue car.'], 'notSaid'],
  ['another one fits better', [car, house], house, ['Forget my blue car.'], [car]],
  ['several fit', [car, redCar, house], car, ['Forget my car.'], [car, redCar]],
  ['the next message chooses', [car, redCar], redCar, ['Forget my car.', 'The red one.'], redCar],
  [
    'that message fits two by itself',
    [car, house, redCar],
    car,
    ['Forget my car.', 'The blue one.'],
    car,
  ],
  ['the newest speaks of another', [car, nuts], nuts, ['My car', 'Forget the hazelnuts'], nuts],
  ['a yes follows the wish', [car, house], car, ['Forget the blue car.', 'Yes, please!'], car],
  ['it is said in another form', [nuts], nuts, ['You can delete my hazelnut allergy.'], nuts],
  ['the reason stands before', [house], house, ['I moved, so forget the house.'], house],
  ['another sentence names another', [car, house], car, ['I love my house. Forget my car.'], car],
  ['two wishes in two sentences', [car, house], car, ['Forget my car. Forget my house.'], car],
  ['it is to be kept', [car], car, ['Don’t forget my blue car!'], 'notSaid'],
  ['everything is wished gone', [car, house], car, ['Forget everything.'], 'notSaid'],
  ['somebody else says it', [car], car, ['Marta wrote: "Forget the blue car."'], 'notSaid'],
  ['there is none', [car], 'other', ['Forget my blue car.'], 'unknown'],
  [
    'German',
    ['Mein blaues Auto', house],
    house,
    ['Vergiss mein blaues Auto.'],
    ['Mein blaues Auto'],
  ],
  [
    'Chinese',
    ['我有一辆蓝色的汽车', '我住在蓝色的房子里'],
    '我有一辆蓝色的汽车',
    ['请忘记我的蓝色汽车'],
    '我有一辆蓝色的汽车',
  ],
  [
    'Chinese, another',
    ['我住在蓝色的房子里'],
    '我住在蓝色的房子里',
    ['请忘记我的蓝色汽车'],
    'notSaid',
  ],
  [
    'Chinese, to be kept',
    ['我有一辆蓝色的汽车'],
    '我有一辆蓝色的汽车',
    ['别忘了我的蓝色汽车'],
    'notSaid',
  ],
  [
    'Japanese',
    ['私の車は青い', '私の家は青い'],
    '私の車は青い',
    ['青い車のことは忘れてください'],
    '私の車は青い',
  ],
  ['Japanese, another', ['私の家は青い'], '私の家は青い', ['青い車のことは忘れて'], 'notSaid'],
  [
    'Japanese in kana',
    ['青いりんごが好き', '青い家'],
    '青い家',
    ['青いりんごを忘れて'],
    ['青いりんごが好き'],
  ],
  ['Japanese, several', ['青い車', '赤い車'], '青い車', ['車を忘れて'], ['青い車', '赤い車']],
  [
    'Korean',
    ['내 파란 차는 새 차다', '내 집은 파란 집이다'],
    '내 파란 차는 새 차다',
    ['파란 차는 잊어 줘'],
    '내 파란 차는 새 차다',
  ],
  [
    'Korean, another',
    ['내 집은 파란 집이다'],
    '내 집은 파란 집이다',
    ['파란 차를 잊어 주세요'],
    'notSaid',
  ],
])('forgetting a note by its id: %s', (...[, notes, id, messages, expected]) => {
  expect(decided(notes, { id }, messages)).toEqual(expected);
});

test.each<[string, string[], string, string[], string | string[]]>([
  ['one has them all', [car, house, nuts], 'hazelnuts', ['Forget the hazelnuts.'], nuts],
  ['one has only some of them', [house], 'blue car', ['Forget my blue car.'], 'unknown'],
  ['the user says less', [car, redCar], 'red car', ['Forget my car.'], [car, redCar]],
  ['the user says more', [car, redCar], 'car', ['Forget my red car.'], redCar],
  ['they are not the user’s', [car, nuts], 'allergy', ['Forget my car.'], [car]],
  ['the words find nothing', [car, nuts], 'bicycle', ['Forget my car.'], [car]],
  ['there are none', [car], '', ['Read the page.'], 'unknown'],
  [
    'a note says just that',
    [car, 'Blue car', house],
    'blue car',
    ['Forget “blue car”.'],
    'Blue car',
  ],
])('forgetting a note by words: %s', (...[, notes, query, messages, expected]) => {
  expect(decided(notes, { query }, messages)).toEqual(expected);
});

test('a word of a note’s topic names the note', () => {
  const stored = [noteOf(1, { text: 'No nuts.', topics: ['food'] }), noteOf(2, { text: car })];

  const decision = decideForget(stored, { id: 'n1' }, ['Forget my rule about food.', 'about food']);

  expect(decision).toMatchObject({ kind: 'forget', note: { id: 'n1' } });
});
