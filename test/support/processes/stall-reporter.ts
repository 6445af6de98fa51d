import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** After so long without a file that begins or ends, the files that run are named. */
const TELL_AFTER_MS = 120_000;
/** After so long the run is ended: the longest file takes 4 minutes on two quiet cores (2026-11-22). */
const END_AFTER_MS = 15 * 60_000;
const LOOK_EVERY_MS = 10_000;

/**
 * Names the test files that a silent run waits for, and ends a run that nothing moves any more. vitest
 * bounds each test, but not what happens between them: a worker that never says that it is done holds
 * the run for ever, without a word about where.
 */
export function createStallReporter(): Reporter {
  const running = new Map<string, number>();
  let movedAt = performance.now();
  let toldAt = movedAt;
  let timer: NodeJS.Timeout | undefined;

  const moved = (): void => {
    movedAt = performance.now();
    toldAt = movedAt;
  };
  const pathOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId);

  const look = (): void => {
    const now = performance.now();
    const seconds = (since: number): string => `${Math.round((now - since) / 1_000)} s`;
    const files = [...running].map(([path, since]) => `${path} for ${seconds(since)}`).join(', ');
    if (now - movedAt >= END_AFTER_MS) {
      console.error(
        `tests: no file began or ended for ${seconds(movedAt)}; the run is ended. ` +
          `Running: ${files || 'no file: a worker of vitest did not end'}`,
      );
      process.exit(1);
    } else if (now - toldAt >= TELL_AFTER_MS) {
      toldAt = now;
      console.log(`tests: running: ${files || 'no file'}`);
    }
  };

  return {
    onTestRunStart: () => {
      moved();
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    onTestModuleStart: (testModule) => {
      running.set(pathOf(testModule), performance.now());
      moved();
    },
    onTestModuleEnd: (testModule) => {
      running.delete(pathOf(testModule));
      moved();
    },
    onTestRunEnd: () => clearInterval(timer),
  };
}
