import { mayStoreTitle, wantsTitle, titlePrompt, titleIn } from '#shared/titles/title.ts';
import { describe, expect, test } from 'vitest';

const auto = (throughSeq: number) => ({ title: 'made', autoTitle: { throughSeq } });

test.each([
  ['without a title, with the first turn', {}, 1, true],
  ['without a title, when the first ones gave none', {}, 4, true],
  ['without a title, after that', {}, 5, false],
  ['with the user’s own', { title: 'own' }, 1, false],
  ['with the user’s own, with the fourth turn', { title: 'own' }, 4, false],
  ['with one of the first turn, before the fourth', auto(1), 3, false],
  ['with one of the first turn, with the fourth', auto(1), 4, true],
  ['with one of the first turn, when the fourth gave none', auto(1), 7, true],
  ['with one of the first turn, after that', auto(1), 8, false],
  ['with one of the fourth turn', auto(4), 5, false],
])('a title is wanted: %s', (...[, conversation, seq, isWanted]) => {
  expect(wantsTitle(conversation, seq)).toBe(isWanted);
});

const conversation = { state: 'live', epoch: 'e', changedIn: 0 } as const;
const made = { madeFrom: { epoch: 'e', changedIn: 0 }, throughSeq: 4 };

test.each([
  ['when there is none', conversation, true],
  ['over one of fewer turns', { ...conversation, title: 'a', autoTitle: { throughSeq: 1 } }, true],
  ['over one of as many', { ...conversation, title: 'a', autoTitle: { throughSeq: 4 } }, false],
  ['over the user’s own', { ...conversation, title: 'a' }, false],
  ['after a turn was changed', { ...conversation, changedIn: 1 }, false],
  ['in a conversation that came back with the id', { ...conversation, epoch: 'f' }, false],
  ['in the bin', { ...conversation, state: 'deleted' as const }, false],
])('a title may be stored: %s', (...[, now, isAllowed]) => {
  expect(mayStoreTitle(now, made)).toBe(isAllowed);
});

describe('the title in an answer', () => {
  test.each([
    ['  "Trip to Kyoto."  ', 'Trip to Kyoto'],
    ['# Trip   to\tKyoto', 'Trip to Kyoto'],
    ['「京都への旅行」', '京都への旅行'],
    ['C++ & C# in 2026', 'C++ & C# in 2026'],
    ['Trip \u202etxt.exe', 'Trip txt.exe'],
    ['\u200b"Tr\u00adip\u{E0041}"', 'Trip'],
    ['Family 👩‍👩‍👧 trip', 'Family 👩‍👩‍👧 trip'],
  ])('the title in the answer %j is %j', (answer, title) => {
    expect(titleIn(answer)).toBe(title);
  });

  test.each([
    ['marks alone', '"…!"'],
    ['two lines', 'Trip to Kyoto\nHere is more.'],
    ['a tag', '<b>Trip</b>'],
    ['an address with a scheme', 'https://example.com/trip'],
    ['JSON', '{"title": "Trip"}'],
    ['a control character', 'Trip\u0007'],
    ['a hidden address', 'Trip ht\u200btps://example.com'],
    ['half of a surrogate pair', 'Trip \ud83d'],
    ['an answer in place of a title', 'word '.repeat(40)],
  ])('an answer with %s has no title', (_, answer) => {
    expect(titleIn(answer)).toBeUndefined();
  });

  test('a title has at most 60 characters and cuts no grapheme', () => {
    const title = titleIn(`${'x'.repeat(55)}${'👩‍👩‍👧'.repeat(10)}`) ?? '';

    expect(title.length).toBeLessThanOrEqual(60);
    expect(title).toBe(`${'x'.repeat(55)}…`);
  });
});

describe('what the model is asked', () => {
  const turn = (user: string, answer: string) => ({
    user: { role: 'user' as const, parts: [{ text: user }] },
    contents: [{ role: 'model' as const, parts: [{ text: answer }] }],
  });
  const sent = (turns: ReturnType<typeof turn>[]) => {
    const [content] = titlePrompt('m', turns).contents;
    return JSON.parse(content?.parts[0]?.text ?? '');
  };

  test('the title prompt holds the newest four turns, each message shortened', () => {
    const turns = [1, 2, 3, 4, 5].map((n) => turn(`q${n}`, 'long '.repeat(1_000)));

    const { messages } = sent(turns);

    const asked = messages.filter(({ role }: { role: string }) => role === 'user');
    expect(asked.map(({ text }: { text: string }) => text)).toEqual(['q2', 'q3', 'q4', 'q5']);
    expect(JSON.stringify(messages).length).toBeLessThan(4_000);
  });
});
