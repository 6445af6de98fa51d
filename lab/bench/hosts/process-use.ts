import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { once } from '#shared/once.ts';

interface ProcessUse {
  cpuMs: number;
  memoryMiB: number;
}

const ticksPerSecond = once(() =>
  Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })),
);

/** Processor time and resident memory of another process. Only on Linux: throws where there is no /proc. */
export async function useOf(processId: number): Promise<ProcessUse> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8');
  // The name may hold blanks; the fields after it are counted from the state on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  const kibibytes = Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]);
  return { cpuMs: (ticks * 1_000) / ticksPerSecond(), memoryMiB: kibibytes / 1_024 };
}

const LOOK_EVERY_MS = 25;

/** Looks at the resident memory of a process until it is asked for the highest that it saw. */
export function watchMemory(processId: number): { peakMiB: () => Promise<number> } {
  let peakMiB = 0;
  const look = async () => {
    peakMiB = Math.max(peakMiB, (await useOf(processId)).memoryMiB);
  };
  // Who has ended is told by the last look.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
  return {
    peakMiB: async () => {
      clearInterval(timer);
      await look();
      return peakMiB;
    },
  };
}
