import { describe, expect, test } from 'vitest';
import { startEvalBench } from '../eval/run/eval-bench.ts';
import type { EvalArguments } from '../eval/eval-arguments.ts';
import type { Share } from '../eval/run/eval-measure.ts';
import { evaluate, type EvalResult } from '../eval/run/eval-run.ts';
import type { Recording } from '../eval/replay/recording.ts';
import { readGoldenTurns } from './golden-conversation.ts';
import { goldenConversations } from './golden-conversations.ts';

const wanted: EvalArguments = {
  dataPath: '',
  outPath: '',
  strategy: 'ledger',
  keepFraction: 0.3,
  snapshotTokens: 1_000,
  model: 'stand-in',
  vices: {},
  seed: '1',
  repeat: 1,
  profile: 'assistant',
  limit: Infinity,
  ids: [],
};

async function recordingOf(name: string): Promise<Recording> {
  const turns = await readGoldenTurns(name);
  return { id: name, turns: turns.flatMap(({ user, contents }) => [user, ...contents]) };
}

async function evaluateAll(settings: Partial<EvalArguments>): Promise<EvalResult[]> {
  const all = { ...wanted, ...settings };
  const bench = await startEvalBench(all, {});
  const results: EvalResult[] = [];
  try {
    for (const { name } of goldenConversations)
      results.push(await evaluate(bench, all, await recordingOf(name)));
  } finally {
    await bench.stop();
  }
  return results;
}

/** Of all conversations together, in per cent. */
function percentOf(shares: readonly (Share | undefined)[]): number {
  const facts = shares.reduce((total, share) => total + (share?.facts ?? 0), 0);
  const held = shares.reduce((total, share) => total + (share?.held ?? 0), 0);
  return (100 * held) / facts;
}

// What was measured on 2026-11-23 stands behind each floor; a change that falls below it must say why. What a forgetful
// summariser leaves out of the talk code no longer puts into free room.
describe('what snapshots carry of three conversations of our own', () => {
  test.each([
    { of: 'an honest summariser', settings: {}, first: 97, second: 65 }, // 99.1, 67.9
    { of: 'one that forgets half', settings: { vices: { forgetful: 0.5 } }, first: 94, second: 42 }, // 97.2, 42.8
    {
      of: 'four compactions by one that forgets three of ten',
      settings: { vices: { forgetful: 0.3 }, repeat: 4 },
      first: 90, // 92.6
      second: 62, // 65.8
    },
  ])('$of: $first % of the hard facts, $second % of the others', async (expected) => {
    const measures = (await evaluateAll(expected.settings)).map(({ measure }) => measure);

    expect(percentOf(measures.map((each) => each?.carried[1]))).toBeGreaterThan(expected.first);
    expect(percentOf(measures.map((each) => each?.carried[2]))).toBeGreaterThan(expected.second);
    expect(percentOf(measures.map((each) => each?.precision))).toBe(100);
  });

  // Precision is not asked: a unit that was converted is as true as it is unsaid.
  test('85 % of the hard facts, 62 % of the others where a capable summariser is believed', async () => {
    const results = await evaluateAll({ vices: { dense: true } });

    const measures = results.map(({ measure }) => measure);
    expect(results.filter(({ generations }) => generations === 0)).toEqual([]);
    expect(percentOf(measures.map((each) => each?.carried[1]))).toBeGreaterThan(85); // 85.2
    expect(percentOf(measures.map((each) => each?.carried[2]))).toBeGreaterThan(62); // 66.7
  });
});
