import { storedMask, withinDocument } from '#shared/compaction/tool-output-budget.ts';
import { toolOutputConstants } from '#shared/compaction/tool-output-constants.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import { describe, expect, test } from 'vitest';

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
