import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { toRecalledText, shareHeld } from '#shared/compaction/ledger/prompt/recalled-text.ts';
import { saidTurn, type Said } from '#test/support/compaction/said-turn.ts';

const factsOf = (said: Said) => extractFacts(readUtterances([saidTurn(1, said)]));

const order = factsOf({ user: 'My order is ORD-20231 and my mail is ann.lee@example.org.' });

describe('recallOf', () => {
  test('recallOf finds nothing in no text', () => {
    const recall = toRecalledText(order, { snapshotTexts: [], keptTexts: [] });

    expect(recall.tiers[1]).toMatchObject({ facts: 2, held: 0, heldWeight: 0 });
    expect(recall.missing.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['ORD-20231', 'ann.lee@example.org']),
    );
  });

  test.each([
    ['the snapshot', { snapshotTexts: ['Order ord-20231'], keptTexts: [] }],
    ['what stays', { snapshotTexts: [], keptTexts: ['what about ORD-20231?'] }],
  ])('recallOf counts what %s says', (_, context) => {
    const recall = toRecalledText(order, context);

    expect(recall.tiers[1]).toMatchObject({ facts: 2, held: 1 });
    expect(recall.missing.map(({ text }) => text)).not.toContain('ORD-20231');
  });

  test('recallOf distinguishes a held fact from its missing twin in another tier', () => {
    const facts = [...order, ...factsOf({ tool: 'see https://example.org/x1' })];

    const { tiers } = toRecalledText(facts, {
      snapshotTexts: [],
      keptTexts: ['https://example.org/x1'],
    });

    expect(tiers[3]).toMatchObject({ facts: 1, held: 1 });
    expect(tiers[1].held).toBe(0);
  });

  test('recallOf weights the share', () => {
    const facts = order.map((fact, at) => ({ ...fact, weight: at === 0 ? 3 : 1 }));
    const [first = ''] = order.map(({ text }) => text);

    const { tiers } = toRecalledText(facts, { snapshotTexts: [first], keptTexts: [] });

    expect(shareHeld(tiers[1])).toBe(0.75);
  });

  test('recallOf of no facts is complete', () => {
    const { tiers, missing } = toRecalledText([], { snapshotTexts: [], keptTexts: [] });

    expect(shareHeld(tiers[1])).toBe(1);
    expect(missing).toEqual([]);
  });
});
