import type { Child } from '../processes/child-process.ts';
import type { PartName } from './stack-event.ts';

/** The processes of a stack. */
export type Children = Map<PartName, Child>;

/** What can be restarted by itself; in the embedded mode without a supervisor both functions are one process. */
export type RestartablePart = 'chat' | 'compaction' | 'functions' | 'stand-in';

export interface RunningParts {
  processIds(): { part: PartName; processId: number }[];
  /** Kills a part (SIGKILL) and resolves when it is there again, on the same port. */
  restart(part: RestartablePart): Promise<void>;
}

/** What can be asked of the processes, also before they are there. */
export const runningParts = (children: () => Children): RunningParts => ({
  processIds: () =>
    [...children()].map(([part, child]) => ({ part, processId: child.processId() ?? 0 })),
  restart: async (part) => {
    const child = children().get(part);
    if (!child) throw new Error(`the stack has no part ${part}`);
    await child.restart();
  },
});

/** The functions first: an answer that is under way shall not fail because its model has gone. */
export async function stopAll(children: Children): Promise<void> {
  const standIn = children.get('stand-in');
  const functions = [...children.values()].filter((child) => child !== standIn);
  await Promise.all(functions.map((child) => child.stop()));
  await standIn?.stop();
}

/** Waits for every start; when one failed, stops what did start and throws what the first one threw. */
export async function allOrNone(
  starts: readonly (readonly [PartName, Promise<Child | undefined>])[],
): Promise<Children> {
  const children: Children = new Map();
  const results = await Promise.allSettled(
    starts.map(async ([part, start]) => {
      const child = await start;
      if (child) children.set(part, child);
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (!failed) return children;
  await stopAll(children);
  throw failed.reason;
}
