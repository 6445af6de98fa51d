import type { Bench } from '../bench.ts';
import { judgeKilledWorker } from '../compaction-verdicts.ts';
import type { Verdict } from '../finding.ts';
import { countSwaps, talkOverThreshold } from './compacting.ts';
import { storedMessages, messageText } from './stored.ts';

/** So long the summariser thinks, for the worker to be met at its work. */
const SLOW_MS = 20_000;
const MEANWHILE = 'While the worker is gone a customer asks for a receipt for order 12.';
const DEADLINE_MS = 180_000;

/** Kills the worker while it summarises; Pub/Sub delivers the event again, and the next one takes its lease over. */
export async function killWorker(bench: Bench): Promise<Verdict> {
  const { supervisor, api } = bench;
  await bench.slowSummaries(SLOW_MS);
  const said = await talkOverThreshold(bench);
  const stateAtKill = await bench.until(async () => {
    const { compaction } = (await api.read()).context;
    return compaction && compaction.state !== 'QUEUED' ? compaction.state : undefined;
  });
  const killedAt = bench.now();
  await supervisor.kill('compaction');
  await bench.slowSummaries(0);
  await bench.say(MEANWHILE);
  await bench.until(async () => {
    const { compaction } = (await api.read()).context;
    return compaction?.state === 'COMPACTED' || undefined;
  }, DEADLINE_MS);
  const afterMs = bench.now() - killedAt;
  const { compactions } = await api.compactions();
  const stored = (await storedMessages(bench))
    .filter(({ role }) => role === 'user')
    .map(messageText);
  return judgeKilledWorker({
    stateAtKill,
    swaps: countSwaps(compactions),
    sent: [...said.map(({ text }) => text), MEANWHILE],
    stored,
    afterMs,
  });
}
