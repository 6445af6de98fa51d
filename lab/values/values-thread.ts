import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { searchValues } from './search-values.ts';

const search = z.object({ values: z.number(), seed: z.number() }).parse(workerData);

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(await searchValues(search));
