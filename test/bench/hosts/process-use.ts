import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';

export interface ProcessUse {
  cpuMs: number;
  memoryMiB: number;
}

const ticksPerSecond = () => Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

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
