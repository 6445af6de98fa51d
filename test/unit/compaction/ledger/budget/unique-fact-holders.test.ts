import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { fitSnapshot } from '#shared/compaction/ledger/budget/fit-snapshot.ts';
import { lastingFacts } from '#shared/compaction/ledger/operations/lasting-facts.ts';
import { renderWorkingLayer } from '#shared/compaction/ledger/render-snapshot.ts';
import { uniqueFactHolders } from '#shared/compaction/ledger/budget/unique-fact-holders.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { workingItems, type Item } from '#shared/conversation/documents/snapshot.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { counting, item, snapshotWith } from '../ledger-samples.ts';

const factsOf = (user: string, model = 'Fine.') =>
  extractFacts(readUtterances([saidTurn(1, { user, model })]));
const archived = (id: string, text: string) => ({ ...item(id, text), section: 'recent_actions' });

describe('the holders of a fact', () => {
  const facts = factsOf('My order is ORD-20231.');

  const order = [archived('a', 'Order ORD-20231'), archived('b', 'about ORD-20231')];

  test.each([
    ['the only one', order.slice(0, 1), ['a']],
    ['the last to go of two', order, ['b']],
    ['none that says another', [archived('a', 'Order ORD-20232')], []],
  ])('the unique-fact holders: %s', (_, items, expected) => {
    expect([...uniqueFactHolders(items, facts, []).keys()]).toEqual(expected);
  });

  test('a fact that a kept text states has no unique holder', () => {
    expect(uniqueFactHolders(order, facts, ['see ORD-20231']).size).toBe(0);
  });

  test('facts stated by the model alone have no unique holders', () => {
    expect(uniqueFactHolders(order, factsOf('And?', 'It is ORD-20231.'), []).size).toBe(0);
  });
});

const sections = (): Record<string, Item[]> => ({
  overall_goal: [item('goal', 'Return what does not fit')],
  recent_actions: [item('action', 'Asked about order ORD-20231')],
  decisions: [item('decision', 'To send back what does not fit')],
  open_questions: [item('question', 'When does the parcel come?')],
});
const keptOf = (factTexts: string, budgetFraction: number) => {
  const snapshot = snapshotWith(sections());
  const whole = estimateTextTokens(renderWorkingLayer(snapshot), counting);
  const fitted = fitSnapshot(snapshot, {
    budgetTokens: Math.floor(whole * budgetFraction),
    counting,
    newestSeq: 1,
    wanted: { facts: factsOf(factTexts), keptTexts: [] },
  });
  return workingItems(fitted.snapshot).map(({ id }) => id);
};

test.each([
  ['Order ORD-20231, please.', 0.85, ['goal', 'question', 'action']],
  ['Order ORD-20231, please.', 0.65, ['goal', 'action']],
  ['Order ORD-20239, please.', 0.85, ['goal', 'decision', 'question']],
])('a snapshot that is too large, after %j, keeps at %d of its size %j', (said, fraction, ids) => {
  expect(keptOf(said, fraction)).toEqual(ids);
});

describe('facts that last', () => {
  const previous = snapshotWith({
    key_knowledge: [
      item('i1', 'User: "It is ORD-20231."', { by: 'code', quote: 'It is ORD-20231.' }),
      item('i2', 'Paid 540 EUR on 2026-05-17'),
    ],
  });

  test('lasting facts include those of earlier items, each once', () => {
    const keys = lastingFacts(previous, factsOf('ORD-20231 and ORD-20232')).map(({ key }) => key);

    expect(keys.toSorted()).toEqual(['2026-05-17', 'eur:540', 'ord-20231', 'ord-20232']);
  });

  test('lasting facts do not count less because a tool shows them again', () => {
    const shown = factsOf('And?').concat(
      factsOf('ORD-20231').map((fact) => ({ ...fact, tier: 3 as const, speaker: 'tool' as const })),
    );

    const lasting = lastingFacts(previous, shown).find(({ key }) => key === 'ord-20231');
    expect(lasting).toMatchObject({ tier: 1, speaker: 'user', isCarried: true });
  });

  test('lasting facts are those of the run where nothing was known', () => {
    const facts = factsOf('ORD-20231');

    expect(lastingFacts(undefined, facts)).toEqual(facts);
  });
});
