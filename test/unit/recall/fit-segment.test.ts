import { fittingSegment, unpackSegment } from '#functions/recall/segment-document.ts';
import { passagesOfTurns } from '#shared/recall/segment.ts';
import { expect, test } from 'vitest';

const at = new Date('2026-03-01T09:00:00.000Z');

test.each([
  ['the same file a thousand times', 'const line = 1;\n'.repeat(1_200)],
  ['very long messages in Chinese', '花生过敏千万别放'.repeat(2_000)],
  ['control characters, each six bytes of JSON', '\u0001a'.repeat(9_000)],
])('a recall segment of %s is read back as written', (_, text) => {
  const turns = Array.from({ length: 1_000 }, (__, i) => ({
    seq: i + 1,
    inContext: true,
    isReplaced: false,
    messages: [{ id: `u${i}`, role: 'user' as const, text, time: at }],
    tools: '',
  }));

  const fields = fittingSegment(passagesOfTurns(turns), 1_000);
  const { segment, throughSeq } = unpackSegment({ path: 'p', fields, updateTime: 'u' });
  expect(throughSeq).toBe(1_000);
  expect(new Set(segment.passages.map(({ seq }) => seq)).size).toBe(1_000);
});
