import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

type Load = () => Promise<unknown>;

/**
 * Modules that turns load when they need them, each by an `import()` where it is used: for tools, schemas, edits, and what
 * follows a compaction. All of them stand here, too: programs in virtual time wait for no load (lab/property).
 */
export const occasionalModules: readonly Load[] = [
  () => import('../chat/turns/answer/condense-round.ts'),
  () => import('../context/snapshot-rendering.ts'),
];

/** Modules that a message is answered with, in the order in which it needs them; behind them those that few need. */
export const messageModules: readonly Load[] = [
  async () => (await import('../adapters/firestore.ts')).loadFirestore(),
  () => import('../chat/routes/messages.ts'),
  () => import('../chat/turns/send/send-message.ts'),
  async () => (await import('../adapters/gemini/gemini-model.ts')).loadGenai(),
  ...occasionalModules,
];

/**
 * Loads for an instance that was started ahead of its first request (another one was busy, or the deployment keeps some
 * idle). A request that an instance is started for comes as soon as it listens, and gets what it needs by itself: so
 * this begins after `afterMs`. One load in a turn of the event loop, so that a request which comes meanwhile waits for
 * one at most. Resolves when all have been tried; a load that fails is left to the request that needs it.
 */
export async function warmUp(
  loads: readonly Load[],
  { afterMs }: { afterMs: number },
): Promise<void> {
  await wait(afterMs, undefined, { ref: false });
  for (const load of loads) {
    await nextTurn();
    await load().catch(() => undefined);
  }
}
