import { describe, expect, test } from 'vitest';
import { planMasks, storedMasks } from '../../../shared/compaction/tail-masks.ts';
import type { Mask } from '../../../shared/conversation/history.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';

const listing = (name: string, rows: number) =>
  Array.from({ length: rows }, (_, row) => `row ${row} of ${name} is well`).join('\n');

const toolTurn = (seq: number, rows: number): Turn => ({
  schemaVersion: 1,
  seq,
  messageId: `message-${seq}`,
  state: 'done',
  attempt: 1,
  producer: 'p',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  tokens: { user: 1, answer: 1 },
  inContext: true,
  user: { role: 'user', parts: [{ text: 'List all.' }] },
  contents: [
    { role: 'model', parts: [{ functionCall: { name: 'list', args: {} } }] },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'list', response: { output: listing(`l${seq}`, rows) } } },
      ],
    },
    { role: 'model', parts: [{ text: 'Here it is.' }] },
  ],
});

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

describe('masks that stand already', () => {
  const turns = [toolTurn(1, 400), toolTurn(2, 100)];

  test('stay as they are while new ones would free little more', () => {
    const more = [...turns, toolTurn(3, 5)];

    expect(storedMasks(plan(more))).not.toEqual(standing(turns));
    expect(storedMasks(plan(more, { standing: standing(turns) }))).toEqual(standing(turns));
  });

  test('move once new ones free the minimum more', () => {
    const more = [...turns, toolTurn(3, 400)];

    expect(plan(more, { standing: standing(turns) })).toEqual(plan(more));
  });

  test('keep the full text that they stand for', () => {
    const kept = plan([...turns, toolTurn(3, 5)], { standing: standing(turns) });

    expect(kept[0]?.offload.text).toBe(listing('l1', 400));
    expect(kept[0]?.savedTokens).toBeGreaterThan(0);
  });

  test('go with the turns that are folded', () => {
    const coveredThrough = { seq: 1, contentIndex: 0 };

    expect(plan([toolTurn(2, 100)], { standing: standing(turns), coveredThrough })).toEqual([]);
  });
});

test('what is folded of a turn takes no part of the budget', () => {
  const coveredThrough = { seq: 1, contentIndex: 2 };

  expect(plan([toolTurn(1, 400)])).toHaveLength(1);
  expect(plan([toolTurn(1, 400)], { coveredThrough })).toEqual([]);
});
