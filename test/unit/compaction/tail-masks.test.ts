import { planMasks, storedMasks } from '#shared/compaction/tool-output-budget.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
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

/** The context that masks make of turns. */
const shown = (turns: readonly Turn[], masks: readonly Mask[]) =>
  assembleContext({
    model: 'gemini-2.5-flash',
    pins: [],
    history: { snapshotText: '', masks: [...masks] },
    coveredThrough: { seq: 0, contentIndex: 0 },
    turns,
  }).map(({ content }) => content);

const outputTokens = (contents: readonly Content[]) =>
  contents
    .flatMap(({ parts }) => parts.filter(({ functionResponse }) => functionResponse))
    .reduce((sum, part) => sum + estimatePartTokens(part, 'character-class'), 0);

/** As long as a real one. */
const hashLike = (text: string) => String(text.length).padStart(64, 'a1');

describe('more outputs than markers have room for', () => {
  const turns = Array.from({ length: 300 }, (_, index) => toolTurn(index + 1, 20));
  const masks = plan(turns, { budgetTokens: 10_000, blobName: hashLike });

  test('more outputs than markers have room for fit the budget in the context', () => {
    const contents = shown(turns, storedMasks(masks));

    expect(outputTokens(contents)).toBeLessThanOrEqual(10_000);
    expect(contents).toHaveLength(1_200);
  });

  test('the oldest of too many outputs are not stored and nearly vanish', () => {
    expect(masks[0]?.offload).toBeUndefined();
    expect(storedMasks(masks)[0]).toEqual({ seq: 1, contentIndex: 2, partIndex: 0 });
    expect(masks.at(-1)?.offload?.text).toContain('row 19 of ');
  });

  test('truncated outputs save as many tokens as reported', () => {
    const saved = masks.reduce((sum, { savedTokens }) => sum + savedTokens, 0);
    const before = outputTokens(shown(turns, []));

    expect(before - outputTokens(shown(turns, storedMasks(masks)))).toBe(saved);
  });

  test('truncated outputs stay unchanged in the next plan', () => {
    expect(
      storedMasks(
        plan(turns, { budgetTokens: 10_000, standing: storedMasks(masks), blobName: hashLike }),
      ),
    ).toEqual(storedMasks(masks));
  });

  test('five thousand truncated outputs fit the history document', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => toolTurn(index + 1, 20));
    const stored = storedMasks(plan(many, { budgetTokens: 50_000 }));

    expect(stored).toHaveLength(5_000);
    expect(JSON.stringify(stored).length).toBeLessThan(300_000);
  });
});

describe('what a model has condensed', () => {
  const condensedTo = (output: string): Mask[] => {
    const part: Part = { functionResponse: { name: 'look_up', response: { output } } };
    return [{ seq: 1, contentIndex: 2, partIndex: 0, part, condensed: true }];
  };
  const more = [toolTurn(1, 400), toolTurn(2, 400)];

  test('a condensed output stays where other truncations change', () => {
    const masks = storedMasks(plan(more, { standing: condensedTo('All is well.') }));

    expect(masks).toEqual([...condensedTo('All is well.'), storedMasks(plan(more))[1]]);
  });

  test('a condensed output is dropped when there is no room for it', () => {
    const standingNow = condensedTo('All is well. '.repeat(100));

    expect(plan(more, { standing: standingNow })).toEqual(plan(more));
  });

  test('a failed attempt to condense is remembered', () => {
    const [mask] = storedMasks(plan(more));
    const tried = mask ? [{ ...mask, condensed: false }] : [];

    const masks = plan([...more, toolTurn(3, 400)], { standing: tried });

    expect(masks.map(({ condensed }) => condensed)).toEqual([false, undefined, undefined]);
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

  test('existing truncations keep their full text', () => {
    const kept = plan([...turns, toolTurn(3, 5)], { standing: standing(turns) });

    expect(kept[0]?.offload?.text).toBe(listing('l1', 400));
    expect(kept[0]?.savedTokens).toBeGreaterThan(0);
  });

  test('truncated outputs go with the turns that are folded', () => {
    const coveredThrough = { seq: 1, contentIndex: 0 };

    expect(plan([toolTurn(2, 100)], { standing: standing(turns), coveredThrough })).toEqual([]);
  });
});

test('the folded part of a turn takes no part of the output budget', () => {
  const coveredThrough = { seq: 1, contentIndex: 2 };

  expect(plan([toolTurn(1, 400)])).toHaveLength(1);
  expect(plan([toolTurn(1, 400)], { coveredThrough })).toEqual([]);
});
