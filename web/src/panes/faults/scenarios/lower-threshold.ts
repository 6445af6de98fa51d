import type { Bench } from '../bench.ts';
import { judgeThreshold } from '../compaction-verdicts.ts';
import type { Verdict } from '../finding.ts';
import { labMessage } from '../lab-messages.ts';
import { endedCompaction, LAB_THRESHOLD_TOKENS } from './compacting.ts';

const MESSAGES = 11;

/** Fills a conversation under its threshold, lowers that below what is there, and says one thing more. */
export async function lowerThreshold(bench: Bench): Promise<Verdict> {
  const { api } = bench;
  for (let index = 0; index < MESSAGES; index += 1) await bench.say(labMessage(index).text);
  const before = await api.read();
  await api.change(
    { settings: { thresholdTokens: LAB_THRESHOLD_TOKENS } },
    'settings.thresholdTokens',
  );
  await bench.say(labMessage(MESSAGES).text);
  const record = await endedCompaction(bench);
  return judgeThreshold({
    wasCrossed: before.generation === 0 && before.context.tokens >= LAB_THRESHOLD_TOKENS,
    state: record.state,
    turnsFolded: record.turnsFolded,
    reason: record.reason,
  });
}
