import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { search } from './search.ts';

const data = z
  .object({ runs: z.number(), seed: z.number(), timeLimitMs: z.number().optional() })
  .parse(workerData);
const { timeLimitMs, ...rest } = data;

const result = await search({ ...rest, ...(timeLimitMs !== undefined && { timeLimitMs }) });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(result);
