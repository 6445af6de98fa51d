/** A process or service of the local stack. */
export type PartName =
  | 'chat'
  | 'compaction'
  | 'functions'
  | 'fake-gemini'
  | 'emulators'
  | 'subscriptions'
  | 'page';

/** What the stack tells about itself; the console shows it, tests read it. */
export type StackEvent =
  | { kind: 'ready'; part: PartName; title: string; tookMs: number }
  | { kind: 'failed'; part: PartName; problem: string }
  | { kind: 'port-taken'; part: PartName; wantedPort: number; usedPort: number }
  | { kind: 'line'; part: PartName; line: string }
  | { kind: 'crashed'; part: PartName; exit: string; lastLines: string[] }
  | { kind: 'restarted'; part: PartName; tookMs: number }
  /** A part that held data is gone and cannot be started again. */
  | { kind: 'lost'; part: PartName; lastLines: string[] }
  | { kind: 'note'; text: string };

export type StackLog = (event: StackEvent) => void;

/**
 * Runs one step of the start-up and tells how long it took, unless its result `isReady` not. Rethrows what the step throws.
 */
export async function timedStep<T>(
  log: StackLog,
  step: { part: PartName; title: string; isReady?: (result: T) => boolean },
  run: () => Promise<T>,
): Promise<T> {
  const { part, title, isReady = () => true } = step;
  const startedAt = performance.now();
  try {
    const result = await run();
    const tookMs = Math.round(performance.now() - startedAt);
    if (isReady(result)) log({ kind: 'ready', part, title, tookMs });
    return result;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    log({ kind: 'failed', part, problem });
    throw error;
  }
}
