import { expect, test } from 'vitest';
import { ChangeQueue } from '#shared/store/change-queue.ts';

interface State {
  path: string;
  v: number;
}

/** A queue whose first batch, an empty one, was read. */
async function startedQueue() {
  const queue = new ChangeQueue<State>();
  const batches = queue.batches(new AbortController().signal);
  queue.release();
  await batches.next();
  return { queue, batches };
}

function releaseAll(queue: ChangeQueue<State>, states: readonly State[]): void {
  for (const state of states) {
    queue.put(state);
    queue.release();
  }
}

test('ChangeQueue keeps only each document’s newest state for a slow reader', async () => {
  const { queue, batches } = await startedQueue();

  releaseAll(queue, [
    { path: 'a', v: 1 },
    { path: 'b', v: 1 },
    { path: 'a', v: 2 },
  ]);

  expect(await batches.next()).toMatchObject({
    value: [
      { path: 'b', v: 1 },
      { path: 'a', v: 2 },
    ],
  });
});
