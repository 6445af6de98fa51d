import { expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { findRoundLimit, roundLimitResponse } from '#shared/loops/loop-reasons.ts';

const gave = (response: Record<string, unknown>): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name: 'f', response } }],
});

test.each<[string, Content[], number | undefined]>([
  ['without calls', [{ role: 'model', parts: [{ text: 'a' }] }], undefined],
  ['whose calls gave something', [gave({ ok: true }), gave({ error: 'broken' })], undefined],
  ['that was refused a round', [gave({ ok: true }), gave(roundLimitResponse(10))], 10],
  ['whose tool gave a number of that name', [gave({ roundLimit: 3 })], undefined],
])('the limit that a turn %s met is recognised', (_, contents, expected) => {
  expect(findRoundLimit(contents)).toBe(expected);
});

test('the model is given the round limit and its alternative', () => {
  expect(roundLimitResponse(10)['error']).toMatch(/limit of 10 rounds.*Answer with what is known/u);
});
