import { toolOutputConstants } from '#shared/compaction/constants.ts';
import {
  planMasks,
  storedMasks,
  storedMask,
  withinDocument,
} from '#shared/compaction/tool-output-budget.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { describe, expect, test } from 'vitest';

const listing = (name: string, rows: number) =>
  Array.from({ length: rows }, (_, row) => `row ${row} of ${name} is well`).join('\n');

const toolTurn = (seq: number, rows: number): Turn =>
  saidTurn(seq, { user: 'List all.', tool: listing(`l${seq}`, rows), model: 'Here it is.' });

const plan = (turns: readonly Turn[], overrides: Partial<Parameters<typeof planMasks>[0]> = {}) =>
  planMasks({
    turns,
    coveredThrough: { seq: 0, contentIndex: 0 },
    standing: [],
    budgetTokens: 2_000,
    minimumGainTokens: 500,
    counting: { rule: 'character-class' },
    blobName: () => 'blob',
    ...overrides,
  });

const standing = (turns: readonly Turn[]): Mask[] => storedMasks(plan(turns));

/** As long as a real one. */
const hashLike = (text: string) => String(text.length).padStart(64, 'a1');

describe('more outputs than markers have room for', () => {
  const turns = Array.from({ length: 300 }, (_, index) => toolTurn(index + 1, 20));
  const masks = plan(turns, { budgetTokens: 10_000, blobName: hashLike });

  test('truncated outputs stay unchanged in the next plan', () => {
    expect(
      storedMasks(
        plan(turns, { budgetTokens: 10_000, standing: storedMasks(masks), blobName: hashLike }),
      ),
    ).toEqual(storedMasks(masks));
  });
});

describe('existing truncated outputs', () => {
  const turns = [toolTurn(1, 400), toolTurn(2, 100)];

  test('existing truncations stay while new ones would save little more', () => {
    const more = [...turns, toolTurn(3, 5)];

    expect(storedMasks(plan(more))).not.toEqual(standing(turns));
    expect(storedMasks(plan(more, { standing: standing(turns) }))).toEqual(standing(turns));
  });

  test('existing truncations change once new ones save the minimum more', () => {
    const more = [...turns, toolTurn(3, 400)];

    expect(plan(more, { standing: standing(turns) })).toEqual(plan(more));
  });
});

test('the folded part of a turn takes no part of the output budget', () => {
  const coveredThrough = { seq: 1, contentIndex: 2 };

  expect(plan([toolTurn(1, 400)])).toHaveLength(1);
  expect(plan([toolTurn(1, 400)], { coveredThrough })).toEqual([]);
});

const limitBytes = toolOutputConstants.masksBytes.value;

const least = (count: number): Mask[] =>
  Array.from({ length: count }, (_, index) => ({ seq: index + 1, contentIndex: 2, partIndex: 0 }));

const masksOf = (count: number, text: string): Mask[] =>
  least(count).map((mask) => ({
    ...mask,
    part: { functionResponse: { name: 'list', response: { output: text } } },
  }));

const bytesOf = (masks: readonly Mask[]) =>
  new TextEncoder().encode(JSON.stringify(masks.map(storedMask))).length;

describe('truncated outputs in the history document', () => {
  test('the oldest truncated outputs in the history document take their shortest form', () => {
    const masks = masksOf(100, 'x'.repeat(10_000));

    const kept = withinDocument(masks, least(100));

    expect(kept).toHaveLength(100);
    expect(bytesOf(kept)).toBeLessThanOrEqual(limitBytes);
    expect(kept[0]).toEqual(least(1)[0]);
    expect(kept.at(-1)).toEqual(masks.at(-1));
  });

  test('the oldest truncated outputs are left out of a full history document', () => {
    const kept = withinDocument(least(20_000), least(20_000));

    expect(bytesOf(kept)).toBeLessThanOrEqual(limitBytes + 1);
    expect(kept.length).toBeGreaterThan(5_000);
    expect(kept.at(-1)?.seq).toBe(20_000);
  });
});
