import { describe, expect, test } from 'vitest';
import { extractFacts } from '../../../../shared/compaction/facts/extract-facts.ts';
import { utterancesOf } from '../../../../shared/compaction/facts/utterances.ts';
import { fillRoom } from '../../../../shared/compaction/ledger/fill-room.ts';
import { renderWorkingLayer } from '../../../../shared/compaction/ledger/render-snapshot.ts';
import { estimateTextTokens } from '../../../../shared/compaction/token-estimate.ts';
import type { Snapshot } from '../../../../shared/conversation/snapshot.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import { modelItem, saidTurn, snapshotWith } from '../../../support/said-turn.ts';
import { toldFact } from '../../../support/told-facts.ts';

const counting = { rule: 'character-class' } as const;
const tokensOf = (snapshot: Snapshot) => estimateTextTokens(renderWorkingLayer(snapshot), counting);
const known = snapshotWith({ key_knowledge: [modelItem(1, 'They plan a trip to the south.')] });

const fill = (
  turns: readonly Turn[],
  { budgetTokens = 2_000, roomTokens = 500, snapshot = known } = {},
) =>
  fillRoom({
    snapshot,
    missing: extractFacts(utterancesOf(turns)),
    dayOf: () => '2026-11-21',
    budgetTokens,
    roomTokens,
    counting,
  });

const told = Array.from({ length: 60 }, (_, index) =>
  saidTurn(index + 1, { user: 'And?', model: `Well. ${toldFact(index)} Nice.` }),
);

describe('the room that is left', () => {
  test('takes the sentence that says a missing fact, with turn, quote and day, of least importance', () => {
    const { snapshot } = fill([
      saidTurn(7, { user: 'And?', model: 'Hm. Take the train at 8:05.' }),
    ]);

    expect(snapshot.sections['key_knowledge']?.slice(1)).toEqual([
      {
        id: 'i101',
        text: 'Assistant: "Take the train at 8:05."',
        sources: [7],
        quote: 'Take the train at 8:05.',
        at: '2026-11-21',
        importance: 1,
        by: 'code',
      },
    ]);
    expect(snapshot.nextId).toBe(102);
  });

  test.each([
    [2_000, 500],
    [2_000, 40],
    [150, 500],
    [90, 500],
  ])(
    'of a budget of %i tokens and %i for sentences is not exceeded',
    (budgetTokens, roomTokens) => {
      const { snapshot, added, tokens } = fill(told, { budgetTokens, roomTokens });

      expect(added.length).toBeGreaterThan(0);
      expect(tokens).toBeLessThanOrEqual(roomTokens);
      expect(tokensOf(snapshot)).toBeLessThanOrEqual(budgetTokens);
    },
  );

  test.each([
    ['no room for sentences', { roomTokens: 0 }],
    ['no room in the budget', { budgetTokens: tokensOf(known) }],
    ['room for no whole sentence', { roomTokens: 5 }],
  ])('stays as it is with %s', (_, room) => {
    expect(fill(told, room)).toEqual({ snapshot: known, added: [], tokens: 0 });
  });

  test('takes nothing of tools and calls', () => {
    const turn = saidTurn(1, { user: 'Look it up.', tool: 'ORD-20232 costs 540 EUR' });
    turn.contents.unshift({
      role: 'model',
      parts: [{ functionCall: { name: 'find', args: { order: 'ORD-20233' } } }],
    });

    expect(fill([turn]).added).toEqual([]);
  });

  test('takes sentences in the order of their saying', () => {
    const { snapshot } = fill(told, { roomTokens: 200 });

    const items = snapshot.sections['key_knowledge'] ?? [];
    const seqs = items.flatMap(({ sources, by }) => (by === 'code' ? sources : []));
    expect(seqs.length).toBeGreaterThan(2);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  });
});
