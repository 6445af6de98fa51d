import { expect, test } from 'vitest';
import { describeReport, isClean } from '#lab/chaos/report.ts';
import { runChaos } from '#lab/chaos/run-chaos.ts';

test('a short chaos run loses and doubles nothing while processes are killed and everything fails', async () => {
  const report = await runChaos({
    minutes: 0.1,
    seed: 'test',
    phones: 2,
    apps: 1,
    client: 'typescript',
    onProgress: () => undefined,
  });

  const { ledger, tally } = report;
  expect(ledger.acknowledgedCount).toBeGreaterThan(0);
  expect(tally.kills + tally.terminations).toBeGreaterThan(0);
  expect(tally.searched.words).toBeGreaterThan(0);
  // The description says what was found.
  expect(isClean(report) ? '' : describeReport(report)).toBe('');
}, 240_000);
