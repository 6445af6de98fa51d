import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Search, SearchResult } from './search.ts';

/** Seeds of one search lie far from those of the next. */
const SEED_STEP = 1_000_003;

async function searchInThread(input: Pick<Search, 'runs' | 'seed'>) {
  const worker = new Worker(new URL('search-thread.ts', import.meta.url), { workerData: input });
  const [result] = (await once(worker, 'message')) as [SearchResult];
  await worker.terminate();
  return result;
}

/** Spreads a search over the processors; the first failure of any of them is the result. */
export async function searchInThreads(
  search: Pick<Search, 'runs' | 'seed'>,
): Promise<SearchResult> {
  const threads = Math.max(2, availableParallelism());
  const results = await Promise.all(
    Array.from({ length: threads }, (_, index) =>
      searchInThread({
        ...search,
        runs: Math.ceil(search.runs / threads),
        seed: search.seed + index * SEED_STEP,
      }),
    ),
  );
  const failure = results.find((result) => result.failure !== undefined)?.failure;
  const runs = results.reduce((sum, result) => sum + result.runs, 0);
  return { runs, ...(failure !== undefined && { failure }) };
}
