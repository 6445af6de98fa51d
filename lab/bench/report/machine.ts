import { cpus, totalmem } from 'node:os';

/** What figures were measured on. */
export interface Machine {
  /** Day of the measurement, ISO 8601. */
  date: string;
  node: string;
  platform: string;
  cpu: string;
  cores: number;
  memoryGb: number;
}

/** The machine that this process runs on, today. */
export const thisMachine = (): Machine => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1e9),
});
