import { LEAST_THRESHOLD_TOKENS } from '#web/state/context/compaction-steps.ts';
import { messageText, storedMessages, type Bench } from '../bench.ts';
import { judgeKilledWorker, judgeRedelivery, judgeThreshold } from '../compaction-verdicts.ts';
import type { Verdict } from '../finding.ts';
import { labMessage } from '../lab-messages.ts';
import { countSwaps, endedCompaction, talkOverThreshold } from './compacting.ts';

/** So long the summariser thinks, for the worker to be met at its work. */
const SLOW_MS = 20_000;
const MEANWHILE = 'While the worker is gone a customer asks for a receipt for order 12.';
const DEADLINE_MS = 180_000;

/** Kills the worker while it summarises; Pub/Sub delivers the event again, and the next one takes its lease over. */
export async function killWorker(bench: Bench): Promise<Verdict> {
  const { supervisor, api } = bench;
  const readState = async () => (await api.read()).context.compaction?.state;
  await bench.slowSummaries(SLOW_MS);
  const said = await talkOverThreshold(bench);
  const stateAtKill = await bench.until(async () => {
    const state = await readState();
    return state === 'QUEUED' ? undefined : state;
  });
  const killedAt = performance.now();
  await supervisor.kill('compaction');
  await bench.slowSummaries(0);
  await bench.say(MEANWHILE);
  await bench.until(async () => (await readState()) === 'COMPACTED' || undefined, DEADLINE_MS);
  const afterMs = performance.now() - killedAt;
  const { compactions } = await api.compactions();
  const messages = await storedMessages(bench);
  return judgeKilledWorker({
    stateAtKill,
    swaps: countSwaps(compactions),
    sent: [...said.map(({ text }) => text), MEANWHILE],
    stored: messages.filter(({ role }) => role === 'user').map(messageText),
    afterMs,
  });
}

const DELIVERIES = 3;

/** Delivers the event of a compaction three times more. */
export async function redeliver(bench: Bench): Promise<Verdict> {
  await talkOverThreshold(bench);
  const { jobId } = await endedCompaction(bench);
  const event = { conversationId: bench.id, requestId: jobId, times: DELIVERIES };
  const { statuses } = await bench.supervisor.redeliver(event);
  const { compactions } = await bench.api.compactions();
  const swaps = countSwaps(compactions.filter((record) => record.jobId === jobId));
  return judgeRedelivery({ codes: statuses, swaps });
}

/** That fit under the threshold as deployed, and not under the lowest. */
const MESSAGES = 11;

/** Fills a conversation under its threshold, lowers that below what is there, and says one thing more. */
export async function lowerThreshold(bench: Bench): Promise<Verdict> {
  const { api } = bench;
  for (let index = 0; index < MESSAGES; index += 1) await bench.say(labMessage(index).text);
  const before = await api.read();
  const settings = { thresholdTokens: LEAST_THRESHOLD_TOKENS };
  await api.change({ settings }, 'settings.thresholdTokens');
  await bench.say(labMessage(MESSAGES).text);
  const { state, turnsFolded, reason } = await endedCompaction(bench);
  return judgeThreshold({
    wasCrossed: before.generation === 0 && before.context.tokens >= LEAST_THRESHOLD_TOKENS,
    state,
    turnsFolded,
    reason,
  });
}
