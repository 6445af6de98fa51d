import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import type { Operation } from '#shared/compaction/ledger/prompt/operation.ts';
import { questionsOf, withAnswers } from './eval-clarify.ts';

const add = (text: string, ...sources: number[]): Operation => ({
  op: 'add',
  section: 'key_knowledge',
  text,
  sources,
});

const facts = extractFacts([
  { seq: 1, speaker: 'user', text: 'My booking is QX-7719.', at: new Date('2026-05-11') },
  { seq: 2, speaker: 'user', text: 'The dentist is on 2026-06-03.', at: new Date('2026-05-11') },
]);

const ask = (operations: readonly Operation[], known: readonly string[] = []) =>
  questionsOf(operations, { facts, keptTexts: [], knownTexts: known });

describe('questions about an answer', () => {
  test('name what user and model said and nothing holds', () => {
    const questions = ask([add('The booking of the user is QX-7719', 1)]);

    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('2026-06-03');
  });

  test('name nothing that was known before', () => {
    expect(ask([add('The booking is QX-7719', 1)], ['Dentist on 2026-06-03'])).toEqual([]);
  });

  test.each([['She wants a window seat'], ['Mara comes tomorrow'], ['The team meets next Monday']])(
    'ask who or when: %s',
    (text) => {
      expect(ask([add(text, 4)])[0]).toContain('Who or what is meant');
    },
  );

  test('ask which of two figures holds where the words are the same', () => {
    const questions = ask([
      add('The table at the Gull is for 4 people', 5),
      add('The table at the Gull is for 6 people', 9),
    ]);

    expect(questions[0]).toContain('Does this hold, or');
    expect(questions[0]).toContain('6 people');
  });

  test('are no more than one round takes', () => {
    const many = Array.from({ length: 50 }, (_, n) => add(`She said ${n}`, n + 1));

    expect(ask(many).length).toBeLessThanOrEqual(24);
  });
});

describe('answers to questions', () => {
  test('take the place of a statement that was not clear', () => {
    const unclear = add('She wants a window seat on the train', 4);
    const clear = add('Mara wants a window seat on the train', 4);

    expect(withAnswers([unclear], [clear])).toEqual([clear]);
  });

  test('stand beside a clear statement', () => {
    const one = add('Ben wants a window seat on the train', 4);
    const other = add('Mara wants a window seat on the train', 4);

    expect(withAnswers([one], [other])).toEqual([one, other]);
  });

  test('that only repeat a statement are left out', () => {
    const one = add('Ben wants a window seat', 4);

    expect(withAnswers([one], [{ ...one }])).toEqual([one]);
  });
});
