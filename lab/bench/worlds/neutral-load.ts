import { startHost } from '../hosts/start-host.ts';
import { pausing, scriptOf } from './load.ts';

/** Work that weighs as much as compactions, in a process of its own. */
interface NeutralLoad {
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/** What so many compactions weighed, and how many there were in a second. */
export interface CompactionWeight {
  compacted: number;
  perSecond: number;
  reads: number;
  commits: number;
  writes: number;
  /** Of the worker and the fake Gemini. */
  cpuMs: number;
}

/** Starts work of this weight, that has nothing to do with any conversation. */
export async function startNeutralLoad(weight: CompactionWeight): Promise<NeutralLoad> {
  const { compacted, perSecond, reads, commits, writes, cpuMs } = weight;
  const each = [reads, commits, writes, cpuMs].map((sum) => sum / compacted);
  const host = await startHost(scriptOf('neutral-load'), [...each, perSecond].map(String));
  return { ...pausing(host), close: () => host.close() };
}
