import type { Child } from '../processes/child-process.ts';
import type { PartName } from './stack-event.ts';

/** The processes of a stack. */
export type Children = Map<PartName, Child>;

/** What can be restarted by itself; in the embedded mode without a supervisor both functions are one process. */
export type RestartablePart = 'chat' | 'compaction' | 'functions' | 'stand-in';

interface RunningParts {
  processIds(): { part: PartName; processId: number }[];
  /** Kills a part (SIGKILL) and resolves when it is there again, on the same port. */
  restart(part: RestartablePart): Promise<void>;
}

export interface Stack extends RunningParts {
  chatUrl: string;
  compactionUrl: string;
  /** Absent where no page was asked for. */
  pageUrl?: string;
  /** Where faults are ordered, with the token of this start; absent where that was not asked for. */
  supervisor?: { url: string; token: string };
  /** Absent when a real model answers. */
  fakeGeminiUrl?: string | undefined;
  /** Absent in the embedded mode. */
  firestoreHost?: string;
  projectId: string;
  /** The variables of the functions that say where things are and how much is compacted; no secrets. */
  variables: Readonly<Record<string, string>>;
  /** What holds the data, for people. */
  backend: string;
  /** Who answers, for people. */
  model: string;
  /** Ends every process that was started; resolves when they are gone and the ports free. */
  stop(): Promise<void>;
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
  const fakeGemini = children.get('stand-in');
  const functions = [...children.values()].filter((child) => child !== fakeGemini);
  await Promise.all(functions.map((child) => child.stop()));
  await fakeGemini?.stop();
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
