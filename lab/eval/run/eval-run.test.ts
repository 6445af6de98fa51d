import { afterEach, describe, expect, test } from 'vitest';
import { parseEvalArguments, type EvalArguments } from '../eval-arguments.ts';
import { type EvalBench, startEvalBench } from './eval-bench.ts';
import { evaluate, type EvalResult } from './eval-run.ts';
import { evalText } from './eval-table.ts';
import type { Recording } from '../replay/recording.ts';

let bench: EvalBench | undefined;
afterEach(() => bench?.stop());

const small = (n: number): string =>
  `We talked about the garden for a while, and about what grows well beside the old wall, part ${n} of it.`;

const recording: Recording = {
  id: 'garden',
  turns: Array.from({ length: 40 }, (_, n) => [
    {
      role: 'user' as const,
      parts: [{ text: `My order ${n + 1} has the number GX-${n + 4100}. ${small(n)}` }],
    },
    { role: 'model' as const, parts: [{ text: `Good to know. ${small(n)}` }] },
  ]).flat(),
};

function wantedWith(...more: string[]): EvalArguments {
  const wanted = parseEvalArguments(['--data', 'a', '--out', 'b', ...more]);
  if (wanted === 'help') throw new Error('help was not asked for');
  return wanted;
}

async function run(...more: string[]): Promise<EvalResult> {
  const wanted = wantedWith(...more);
  bench = await startEvalBench(wanted, {});
  return evaluate(bench, wanted, recording);
}

describe('an evaluation', () => {
  test.each(['ledger', 'gemini-cli'])(
    'compacts with the pipeline of the service: %s',
    async (strategy) => {
      const result = await run('--strategy', strategy, '--snapshot-tokens', '1500');

      expect(result).toMatchObject({ state: 'COMPACTED', generations: 1, keepFrom: 58 });
      expect(result.snapshot).toContain('GX-4100');
      expect(result.snapshot).not.toContain('state_snapshot');
      expect(result.calls).toBeGreaterThan(0);
    },
  );

  test('compacts as often as it is told while the conversation grows', async () => {
    const result = await run('--repeat', '3', '--snapshot-tokens', '1500');

    expect(result).toMatchObject({ state: 'COMPACTED', generations: 3, keepFrom: 58 });
  });

  test('tells of a compaction that fails', async () => {
    const wanted = wantedWith();
    const silent = { kind: 'emptyCandidates', shape: 'noParts', times: 100 } as const;
    bench = await startEvalBench({ ...wanted, faults: [silent] }, {});

    const result = await evaluate(bench, wanted, recording);

    expect(result).toMatchObject({ state: 'FAILED_EMPTY_SUMMARY' });
    expect(result.snapshot).toBeUndefined();
    expect(evalText([result], undefined)).toContain('garden: FAILED_EMPTY_SUMMARY');
  });

  test('with a threshold of its own has the budgets that follow from it', async () => {
    const tight = await run('--threshold', '4000');
    await bench?.stop();
    const usual = await run();

    expect(tight.snapshotTokens).toBeLessThan(560);
    expect(usual.snapshotTokens).toBeGreaterThan(560);
  });

  test('needs a key for a Gemini model', async () => {
    await expect(startEvalBench(wantedWith('--model', 'gemini-2.5-pro'), {})).rejects.toThrow(
      'needs GEMINI_API_KEY',
    );
  });
});
