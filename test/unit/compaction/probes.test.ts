import { describe, expect, test } from 'vitest';
import { probeText } from '#shared/compaction/probes/probe-prompt.ts';
import { probeQuestions } from '#shared/compaction/probes/probe-questions.ts';
import { scoreProbe } from '#shared/compaction/probes/score-probe.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';

const at = new Date('2026-05-02T10:00:00Z');

/** Turns of one day, each what the user says. */
const folded = (...said: string[]) =>
  said.map((user, i) => saidTurn(i + 1, { user, model: 'Noted.', at }));

const textsOf = (...said: string[]) => probeQuestions(folded(...said)).map(({ text }) => text);

describe('a probe asks', () => {
  test('for values that the user stated and a later answer needs', () => {
    expect(
      textsOf(
        'My budget for the hotel is 1,400 euros.',
        'The weather was fine and we walked for two hours.',
        'The booking number is QX-48213, by the way.',
      ),
    ).toEqual(['The booking number is ____, by the way.', 'My budget for the hotel is ____.']);
  });

  test('nothing about what a model or a tool has said, nor about questions', () => {
    const turn = { model: 'The pass costs 312 euros.', tool: 'Order QX-99', at };

    expect(probeQuestions([saidTurn(1, { user: 'Does it cost 300 euros?', ...turn })])).toEqual([]);
  });

  test('nothing whose sentence says no more than the value, or says it twice', () => {
    expect(textsOf('QX-48213', 'My code QX-48213 is qx-48213.')).toEqual([]);
  });

  test('once where two values have the same sentence', () => {
    expect(textsOf('My budget is 900 euros.', 'My budget is 700 euros.')).toEqual([
      'My budget is ____.',
    ]);
  });

  test('nothing that another of its questions tells', () => {
    expect(
      textsOf(
        'The booking QX-48213 costs 1,400 euros.',
        'My limit for the hotel stays at 1,400 euros.',
        'Write to me at ivan@example.org, please.',
      ),
    ).toEqual(['The booking ____ costs 1,400 euros.', 'Write to me at ____, please.']);
  });

  test('in scripts that write no blanks, too', () => {
    expect(textsOf('我的酒店预算是1400欧元。')).toEqual(['我的酒店预算是____。']);
  });

  test('five questions at most, and with at most 240 characters around the value', () => {
    const long = `${'word '.repeat(60)}costs 45 euros ${'word '.repeat(60)}`;
    const prices = Array.from(
      { length: 9 },
      (_, i) => `Ticket ${'abcdefghi'[i]} costs ${i + 31} euros.`,
    );
    const questions = textsOf(...prices);

    expect(questions).toHaveLength(5);
    expect(textsOf(long)[0]?.length).toBeLessThanOrEqual(244);
  });
});

describe('the answer to a probe', () => {
  const questions = probeQuestions(
    folded(
      'My budget for the hotel is 1,400 euros.',
      'The booking number is QX-48213, by the way.',
    ),
  );

  test.each([
    ['right in any notation', '1: qx-48213\n2: €1400', { right: 2, unknown: 0, wrong: 0 }],
    ['wrong', '1: QX-48214\n2: 1,500 euros', { right: 0, unknown: 0, wrong: 2 }],
    ['unknown', '1: UNKNOWN\n2: unknown.', { right: 0, unknown: 2, wrong: 0 }],
    ['unknown where a line is missing', '2. 1400 EUR', { right: 1, unknown: 1, wrong: 0 }],
    ['unknown where nothing is said', '', { right: 0, unknown: 2, wrong: 0 }],
    [
      'right in Markdown',
      '- **1**: QX-48213\n- **2:** **€1,400**',
      { right: 2, unknown: 0, wrong: 0 },
    ],
    ['unknown in Markdown', '**1:** UNKNOWN\n2: "Unknown"', { right: 0, unknown: 2, wrong: 0 }],
    ['right behind a wide colon', '1：QX-48213\n2：1400', { right: 2, unknown: 0, wrong: 0 }],
    ['what its first line says', '1: QX-1\n1: QX-48213', { right: 0, unknown: 1, wrong: 1 }],
    ['not an echo of the question', probeText(questions), { right: 0, unknown: 0, wrong: 2 }],
  ])('is %s', (_, answer, counts) => {
    expect(scoreProbe(questions, answer)).toEqual({ asked: 2, ...counts });
  });

  test.each([
    ['12 June', 'right'],
    ['June 12, 2026', 'right'],
    ['12 June 2025', 'wrong'],
    ['13 June', 'wrong'],
    ['2026', 'wrong'],
  ])('a day that is answered as %s is %s', (answer, verdict) => {
    const asked = probeQuestions(folded('My flight to Oslo is on 12 June 2026.'));

    expect(scoreProbe(asked, `1: ${answer}`)).toMatchObject({ asked: 1, [verdict]: 1 });
  });
});
