import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import {
  bindsAnswers,
  isNeededLater,
  isSaidByUser,
  isStatement,
} from '#shared/compaction/ledger/repair/needed-facts.ts';
import { saidTurn, type Said } from '#test/support/compaction/said-turn.ts';

const at = new Date('2026-11-21T10:00:00Z');
const factsOf = (said: Said) => extractFacts(readUtterances([saidTurn(1, { at, ...said })]));

const neededOf = (said: Said): string[] =>
  factsOf(said)
    .filter((fact) => isNeededLater(fact, '2026-11-21'))
    .map(({ text }) => text);

describe('a fact that a later answer needs', () => {
  test.each([
    ['an order', 'My order is ORD-20231.', 'ORD-20231'],
    ['an address', 'Write to ann.lee@example.org today.', 'ann.lee@example.org'],
    ['a telephone number', 'My number is +44 20 7946 0100 by the way.', '+44 20 7946 0100'],
    ['a sum', 'Our budget is 540 EUR.', '540 EUR'],
    ['a day ahead', 'The visa runs out on 2027-03-14.', '2027-03-14'],
    ['a wish', 'Never call me before nine.', 'Never call me before nine.'],
    ['an order in Chinese', '我的订单号是ORD-20231。', 'ORD-20231'],
    ['an order that a question names', 'Is ORD-20231 mine?', 'ORD-20231'],
    [
      'an order that a request for help names',
      'Can you help me with ORD-20231 please',
      'ORD-20231',
    ],
    ['an address that a question names', 'Is ann.lee@example.org hers?', 'ann.lee@example.org'],
    [
      'a telephone number that a question names',
      'Is +44 20 7946 0100 her number?',
      '+44 20 7946 0100',
    ],
  ])('a needed fact is %s that the user states', (_what, user, text) => {
    expect(neededOf({ user })).toContain(text);
  });

  test.each([
    ['a sum in a question', { user: 'Is 540 EUR too much?' }],
    ['a day in a question', { user: 'Is 2027-03-14 free?' }],
    ['a version', { user: 'I use v22.14 here.' }],
    ['a name with fewer than three digits', { user: 'We meet at gate B4.' }],
    ['a stamp', { user: '[session 3, 1:14 pm on 25 May, 2027]\nI see.' }],
    ['a title', { user: '**Orders of ORD-20231**' }],
    ['code', { user: 'const order = "ORD-20231";' }],
    ['a day that is over', { user: 'We moved on 2026-03-14.' }],
    ['a size', { user: 'The fence is 31 metres long.' }],
    ['a name', { user: 'My sister is called Ana Silva.' }],
    ['what the model says', { user: 'And?', model: 'It is ORD-20231.' }],
    ['what a tool returns', { user: 'And?', tool: 'order: ORD-20231' }],
    ['a mail that the user shows', { user: 'Look:\n> My order is ORD-20231.' }],
  ])('a needed fact is not in %s', (_what, said) => {
    expect(neededOf(said)).toEqual([]);
  });
});

test.each([
  ['in a statement', 'My order is ORD-20231.', true],
  ['in a question', 'Is ORD-20231 mine?', true],
  ['in code', 'const order = "ORD-20231";', false],
  ['in what he shows', 'Look:\n> My order is ORD-20231.', false],
])('a user’s own statement: %s', (_what, user, isSaid) => {
  const orders = factsOf({ user }).filter(({ text }) => text.includes('ORD-20231'));

  expect(orders.some(isSaidByUser)).toBe(isSaid);
});

describe('a statement', () => {
  test.each([
    'The budget is 540 EUR.',
    'We leave on Friday',
    '我们五月去里昂。',
    'No meat, please.',
  ])('a statement is %j', (sentence) => {
    expect(isStatement(sentence)).toBe(true);
  });

  test.each([
    'Hello there!',
    'Thanks a lot',
    '## Plan',
    '- milk',
    '3. Glaze',
    '**Note** this',
    'return total;',
    '[2022-09-24T12:35]',
    '2:30 PM',
    'What is the budget?',
    'How can I pay it',
    'The items are:',
  ])('a statement is not %j', (sentence) => {
    expect(isStatement(sentence)).toBe(false);
  });
});

describe('wishes that bind answers', () => {
  test.each([
    'Never call me before nine.',
    'Never call me before nine!',
    'From now on always answer in German!',
    'Please don’t mention Sintra.',
    '请用中文回答我！',
    'I am allergic to shellfish.',
  ])('a wish binds answers in %j', (wish) => {
    expect(bindsAnswers(wish)).toBe(true);
  });

  test.each(['It must have been unreal!', 'The crowd must have been huge!', 'Hello!'])(
    'a wish binds no answers in %j, a guess or a greeting',
    (wish) => {
      expect(bindsAnswers(wish)).toBe(false);
    },
  );

  // Better one sentence too many than a rule too few.
  test.each(['You always make me laugh!', 'Is it always so hot?'])(
    'a wish may bind answers in %j',
    (wish) => {
      expect(bindsAnswers(wish)).toBe(true);
    },
  );

  // An exclamation mark takes no rule away, in no language.
  test.each([
    "I'm allergic to shellfish!",
    'You must never call me at work!',
    'Bitte immer auf Deutsch antworten!',
    'Niemals vor neun Uhr anrufen!',
  ])('a wish with an exclamation mark binds answers: %j', (wish) => {
    expect(bindsAnswers(wish)).toBe(true);
  });

  test('a wish as a polite question binds answers', () => {
    expect(bindsAnswers('Could you always answer in German?')).toBe(true);
  });
});
