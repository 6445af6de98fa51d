import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { search } from './search.ts';

const result = await search(z.object({ runs: z.number(), seed: z.number() }).parse(workerData));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(result);
