import type { Config } from '../config.ts';

/** Reads what operators change while the process runs, if it is a minute old. Throws nothing. */

export async function refreshRemote(
  config: Pick<Config, 'remotePolicy' | 'appMemory'>,
): Promise<void> {
  await Promise.all([config.remotePolicy?.refresh(), config.appMemory?.refresh()]);
}
