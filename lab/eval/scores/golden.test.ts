import { describe, expect, test } from 'vitest';
import { startEvalBench } from '../compact/bench.ts';
import type { Recording } from '../replay/recording.ts';
import { compactAndCompare, expectationsOf } from './golden.ts';

const small = (n: number): string =>
  `We talked about the garden for a while, and about what grows well beside the old wall, part ${n} of it.`;
const said = (role: 'user' | 'model', text: string) => ({ role, parts: [{ text }] });

const garden: Recording = {
  id: 'garden',
  turns: Array.from({ length: 40 }, (_, n) => [
    said('user', `My order ${n + 1} has the number GX-${n + 4100}. ${small(n)}`),
    said('model', `Good to know. ${small(n)}`),
  ]).flat(),
  expected: ['GX-4100', 'gx-4101', 'GX-4139', 'never said'],
};

async function compact(
  strategy: 'ledger' | 'gemini-cli',
  repeat: number,
  thresholdTokens?: number,
) {
  const bench = await startEvalBench({ model: 'fake-gemini', strategy });
  try {
    const sizes = thresholdTokens === undefined ? { snapshotTokens: 1_500 } : { thresholdTokens };
    const settings = { profile: 'assistant', keepFraction: 0.3, repeat, ...sizes } as const;
    return await compactAndCompare(bench, settings, garden);
  } finally {
    await bench.stop();
  }
}

describe('a recording with expectations', () => {
  test.each([
    ['ledger', 1],
    ['ledger', 3],
    ['gemini-cli', 1],
  ] as const)(
    'is compacted with the pipeline of the service: %s, %d times',
    async (strategy, times) => {
      const result = await compact(strategy, times);

      expect(result).toMatchObject({
        state: 'COMPACTED',
        generations: times,
        keepFrom: 58,
        expected: 2,
      });
      expect(result.snapshot).not.toContain('state_snapshot');
      expect(
        result.missing.filter((each) => result.snapshot?.toLowerCase().includes(each)),
      ).toEqual([]);
    },
  );

  test('has with a threshold of its own the budgets that follow from it', async () => {
    const { snapshotTokens } = await compact('ledger', 1, 4_000);

    expect(snapshotTokens).toBeLessThan(560);
  });
});

test('what a snapshot should say is what the folded turns say word for word', () => {
  const recording = {
    ...garden,
    expected: ['Gate  7'],
    meta: { expectedArgs: ['JFK', 'LAX'] },
    probes: [{ id: 'p', question: 'Which seat?', answer: 12 }],
  };

  expect(expectationsOf(recording, 'From jfk, gate\n7, seat 12.')).toEqual(['gate 7', 'jfk', '12']);
});
