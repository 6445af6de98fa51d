import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitSnapshot } from '#shared/compaction/ledger/budget/fit-snapshot.ts';
import { renderWorkingLayer } from '#shared/compaction/ledger/render-snapshot.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import {
  constraintSection,
  workingItems,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { counting, item, snapshots, snapshotWith } from '../ledger-samples.ts';

const tokensOf = (snapshot: Snapshot) => estimateTextTokens(renderWorkingLayer(snapshot), counting);

/** The ids in the order in which they leave when the budget shrinks. */
function leavingOrder(snapshot: Snapshot): string[] {
  const order: string[] = [];
  for (let budgetTokens = tokensOf(snapshot) - 1; budgetTokens > 0; budgetTokens--) {
    const fitted = fitSnapshot(snapshot, { budgetTokens, counting, newestSeq: 100 });
    for (const { id } of fitted.snapshot.archive) if (!order.includes(id)) order.push(id);
  }
  return order;
}

describe('a snapshot that is too large', () => {
  test('a snapshot that is too large loses finished tasks first, goal and constraints last', () => {
    const text = 'The same words in every item';
    const one = (id: string, more: Partial<Item> = {}) => [item(id, text, more)];
    const snapshot = snapshotWith({
      overall_goal: one('goal'),
      user_profile: one('profile'),
      active_constraints: one('constraint'),
      key_knowledge: one('knowledge'),
      decisions: one('decision'),
      open_questions: one('question'),
      artifacts: one('artifact'),
      recent_actions: one('action'),
      task_state: [...one('task', { status: 'todo' }), ...one('finished', { status: 'done' })],
      narrative: one('narrative'),
    });

    expect(leavingOrder(snapshot)).toEqual([
      'finished',
      'action',
      'artifact',
      'narrative',
      'knowledge',
      'decision',
      'profile',
      'task',
      'question',
      'goal',
      'constraint',
    ]);
  });

  test.each<[string, Record<string, Item[]>, string[]]>([
    [
      'the oldest action',
      {
        recent_actions: [
          item('new', 'Called the bank', { sources: [9] }),
          item('old', 'Called the bank.'),
        ],
      },
      ['old', 'new'],
    ],
    [
      'the unimportant before the old',
      {
        decisions: [
          item('old', 'By train'),
          item('low', 'By bus', { importance: 1, sources: [9] }),
        ],
      },
      ['low', 'old'],
    ],
    [
      'knowledge that says little',
      {
        key_knowledge: [
          item('dense', 'Booking BK-4711, 12 May'),
          item('vague', 'it went quite well, they said'),
        ],
      },
      ['vague', 'dense'],
    ],
    [
      'knowledge that is old',
      {
        key_knowledge: [
          item('new', 'Booking BK-4711', { sources: [99] }),
          item('old', 'Booking BK-4712'),
        ],
      },
      ['old', 'new'],
    ],
  ])('a snapshot that is too large loses %s first', (_, sections, order) => {
    expect(leavingOrder(snapshotWith(sections))).toEqual(order);
  });

  test('a snapshot that fits stays unchanged', () => {
    const snapshot = snapshotWith({ decisions: [item('i1', 'By train')] });

    expect(fitSnapshot(snapshot, { budgetTokens: 500, counting, newestSeq: 1 })).toEqual({
      snapshot,
      archived: 0,
      constraintsOverBudget: false,
    });
  });

  test('a snapshot reports when its constraints exceeded 35 % of the budget', () => {
    const rules = ['Never before nine', 'No meat'].map((text, n) => item(`i${n + 1}`, text));
    const snapshot = snapshotWith({ [constraintSection]: rules });
    const fitted = fitSnapshot(snapshot, { budgetTokens: 20, counting, newestSeq: 1 });

    expect(fitted).toMatchObject({ archived: 1, constraintsOverBudget: true });
    expect(fitted.snapshot.archive.map(({ text }) => text)).toEqual(['Never before nine']);
  });
});

describe('the archive', () => {
  const fit = (archive: Snapshot['archive'], sections: Snapshot['sections'] = {}) =>
    fitSnapshot(snapshotWith(sections, { archive }), {
      budgetTokens: 500,
      counting,
      newestSeq: 1,
    }).snapshot.archive.map(({ id }) => id);
  const archived = (id: string, more: Partial<Item> = {}) => ({
    ...item(id, `text of ${id}`, more),
    section: 'key_knowledge',
  });

  test('the archive is bounded in items: replaced, then unimportant, then old ones go', () => {
    const filler = Array.from({ length: 399 }, (_, n) => ({
      ...archived(`f${n}`, { sources: [7] }),
      text: 'text of old',
    }));
    const successor = { decisions: [item('new', 'x', { supersedes: 'replaced' })] };

    const kept = fit(
      [
        archived('replaced', { importance: 3, sources: [9] }),
        archived('low', { importance: 1, sources: [9] }),
        archived('old', { sources: [1] }),
        archived('high', { importance: 3, sources: [1] }),
        ...filler,
      ],
      successor,
    );
    expect(kept).toHaveLength(400);
    expect(kept.slice(0, 2)).toEqual(['high', 'f0']);
  });

  test('the archive drops a replaced item together with all that it replaced', () => {
    const filler = Array.from({ length: 399 }, (_, n) => archived(`f${n}`, { importance: 3 }));
    const chain = [
      archived('first', { importance: 3 }),
      archived('second', { importance: 1, supersedes: 'first' }),
    ];
    const successor = { decisions: [item('new', 'x', { supersedes: 'second' })] };

    const kept = fit([...chain, ...filler], successor);

    expect(kept).not.toContain('second');
    expect(kept).not.toContain('first');
  });

  test('the archive keeps informative short items before wordy ones', () => {
    const filler = Array.from({ length: 399 }, (_, n) => archived(`f${n}`));
    const vague = { ...archived('vague'), text: 'and so on and on, as it were, with all of that' };
    const dense = { ...archived('dense'), text: 'Booking BK-4711 at 14:30' };

    expect(fit([vague, dense, ...filler])).toEqual(['dense', ...filler.map(({ id }) => id)]);
  });

  test('the archive drops duplicated words before items, but no proof of a constraint', () => {
    const text = `User: "${'word '.repeat(30)}"`;
    const items = Array.from({ length: 200 }, (_, n) => ({
      ...archived(`i${n}`, { quote: 'word '.repeat(30) }),
      text,
      section: n === 0 ? constraintSection : 'key_knowledge',
    }));

    const { archive } = fitSnapshot(snapshotWith({}, { archive: items }), {
      budgetTokens: 500,
      counting,
      newestSeq: 1,
    }).snapshot;
    expect(archive).toHaveLength(200);
    expect(archive.filter(({ quote }) => quote !== undefined).map(({ id }) => id)).toEqual(['i0']);
  });

  test('the archive is bounded in characters', () => {
    const long = Array.from({ length: 100 }, (_, n) => ({
      ...archived(`i${n}`, { sources: [n + 1] }),
      text: 'x'.repeat(1_000),
    }));

    const kept = fit(long);
    expect(kept.at(-1)).toBe('i99');
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.length).toBeLessThan(60);
  });
});

describe('any snapshot', () => {
  const cases = fc.record({
    snapshot: snapshots(fc.string({ unit: 'grapheme', maxLength: 80 })),
    budgetTokens: fc.integer({ min: 30, max: 400 }),
  });

  const shown = fc.string({ unit: 'grapheme', maxLength: 80 }).filter((text) => text.trim() !== '');
  /** What the tags of a snapshot take. */
  const frameTokens = 60;

  test('any snapshot is within the budget, its frame apart', () => {
    fc.assert(
      fc.property(cases, ({ snapshot, budgetTokens }) => {
        const fitted = fitSnapshot(snapshot, { budgetTokens, counting, newestSeq: 9 });

        expect(tokensOf(fitted.snapshot)).toBeLessThanOrEqual(Math.max(budgetTokens, frameTokens));
      }),
    );
  });

  test('any snapshot keeps every rule within the share of rules', () => {
    fc.assert(
      fc.property(fc.array(shown, { maxLength: 4 }), (texts) => {
        const rules = texts.map((text, index) =>
          item(`i${index + 1}`, `${index}: ${text} /${index}`),
        );
        const snapshot = snapshotWith({ [constraintSection]: rules });

        const fitted = fitSnapshot(snapshot, { budgetTokens: 4_000, counting, newestSeq: 9 });

        expect(fitted.snapshot.sections[constraintSection] ?? []).toEqual(rules);
      }),
    );
  });

  test('any snapshot keeps each item in a layer, except rules covered by another', () => {
    fc.assert(
      fc.property(cases, ({ snapshot, budgetTokens }) => {
        const fitted = fitSnapshot(snapshot, { budgetTokens, counting, newestSeq: 9 });

        const idsOf = (held: Snapshot) =>
          [...workingItems(held), ...held.archive].map(({ id }) => id).toSorted();
        const left = idsOf(fitted.snapshot);
        const rules = new Set((snapshot.sections[constraintSection] ?? []).map(({ id }) => id));
        expect(left.filter((id) => !idsOf(snapshot).includes(id))).toEqual([]);
        expect(idsOf(snapshot).filter((id) => !left.includes(id) && !rules.has(id))).toEqual([]);
      }),
    );
  });
});
