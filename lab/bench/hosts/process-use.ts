import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { once } from '#shared/lib/once.ts';

const ticksPerSecond = once(() =>
  Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })),
);

/** Processor time of another process. Only on Linux: throws where there is no /proc. */
export async function cpuMsOf(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8');
  // The name may hold blanks; the fields after it are counted from the state on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks * 1_000) / ticksPerSecond();
}

async function memoryKibOf(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]);
}

const LOOK_EVERY_MS = 25;

/** Looks at the resident memory of a process until it is asked how far it rose. */
export async function watchMemory(processId: number): Promise<{ addedKib: () => Promise<number> }> {
  const before = await memoryKibOf(processId);
  let peak = before;
  const look = async () => {
    peak = Math.max(peak, await memoryKibOf(processId));
  };
  // Who has ended is told by the last look.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
  return {
    addedKib: async () => {
      clearInterval(timer);
      await look();
      return peak - before;
    },
  };
}
