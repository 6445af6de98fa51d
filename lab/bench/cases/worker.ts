import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { runHost, startFreeModel } from '../hosts/start-host.ts';
import { atLeast, atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { benchTurns, LARGE_MESSAGES } from '../worlds/bench-conversation.ts';

const script = fileURLToPath(new URL('../hosts/worker.ts', import.meta.url));

/** One figure of a worker in a process of its own, whose model answers at once. */
export async function measureWorker(...work: readonly string[]): Promise<number> {
  const model = await startFreeModel();
  try {
    return z.number().parse(await runHost(script, {}, [model.url, ...work]));
  } finally {
    await model.close();
  }
}

/** What a worker takes for compactions of whole conversations. */
export function workerGroup(): BenchGroup {
  const cases: BenchCase[] = [
    {
      name: 'compaction-tokens',
      unit: 'tokens',
      referenceName:
        'two calls over the whole context, as Gemini CLI makes them; for each of its tokens',
      aim: atMost(0.6),
      samples: 1,
      ours: () => measureWorker('tokens', '1200'),
      reference: () => 2,
    },
    {
      name: 'throughput',
      unit: '1/s',
      referenceName: 'a worker that only reads, asks and writes',
      aim: atLeast(0.1),
      samples: 3,
      ours: () => measureWorker('compact'),
      reference: () => measureWorker('bare'),
    },
    {
      name: 'compaction-growth',
      unit: 'ms',
      referenceName: 'processor time for a fifth of the messages, 2,000 with tools',
      aim: atMost(6),
      samples: 3,
      isLong: true,
      ours: () => measureWorker('processor', '10000', 'tools'),
      reference: () => measureWorker('processor', '2000', 'tools'),
    },
    {
      name: 'worker-memory',
      unit: 'MiB',
      referenceName: 'the conversation as JSON',
      aim: atMost(60),
      samples: 1,
      isLong: true,
      ours: () => measureWorker('memory'),
      reference: () => JSON.stringify(benchTurns(LARGE_MESSAGES, 'chat')).length / 2 ** 20,
    },
  ];
  return { name: 'worker', title: 'The worker', cases };
}
