import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startWatched } from '#infra/local/processes/child-process.ts';

const module = new URL('../../../../../infra/local/processes/child-process.ts', import.meta.url)
  .href;

/** A command that prints its process id and ignores the polite signal. */
const STUBBORN = [
  '-e',
  'process.on("SIGTERM",()=>{});console.log(process.pid);setInterval(()=>{},9e4)',
];
const POLITE = ['-e', 'console.log(process.pid);setInterval(()=>{},9e4)'];

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<boolean> {
  const giveUpAt = performance.now() + 10_000;
  while (!holds() && performance.now() < giveUpAt) await wait(20);
  return holds();
}

test.each([
  ['that obeys', POLITE],
  ['that ignores SIGTERM', STUBBORN],
])('a watched process %s is gone after stop', async (_name, script) => {
  const watched = startWatched(process.execPath, script);
  expect(await until(() => watched.lastOutput() !== '')).toBe(true);
  const pid = Number(watched.lastOutput());
  expect(isAlive(pid)).toBe(true);

  await watched.stop();

  expect(await until(() => !isAlive(pid))).toBe(true);
});

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'a watched process does not outlive a parent that ends by %s',
  async (signal) => {
    const script = JSON.stringify(POLITE);
    const parent = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `import { startWatched } from '${module}';
         const watched = startWatched(process.execPath, ${script});
         while (watched.lastOutput() === '') await new Promise((done) => setTimeout(done, 10));
         console.log(watched.lastOutput());
         setInterval(() => {}, 90000);`,
    ]);
    const [line]: Buffer[] = await once(parent.stdout, 'data');
    const pid = Number(line?.toString());
    expect(isAlive(pid)).toBe(true);

    parent.kill(signal);

    expect(await until(() => !isAlive(pid))).toBe(true);
  },
);
