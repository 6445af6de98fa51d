import { constants, existsSync } from 'node:fs';
import { access, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ArgumentError } from './replay/replay-arguments.ts';
import { parseRecordings, type Recording } from './replay/recording.ts';

const reasonFor = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

/** Throws ArgumentError, naming the option, for a file that cannot be read. */
export async function readGivenFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be read: ${reasonFor(cause)}`, { cause });
  }
}

/** Before the work whose figures a file shall hold; makes no file. Throws ArgumentError where it cannot be written. */
export async function checkWritable(option: string, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  if (path === '') throw new ArgumentError(`${option} takes a path, not an empty text`);
  try {
    if (existsSync(path)) await (await open(path, constants.O_WRONLY)).close();
    else await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be written: ${reasonFor(cause)}`, { cause });
  }
}

/** The conversations of a --data, all or those with an id. Throws ArgumentError, also for an id that is not there. */
export async function readRecordings(
  path: string,
  ids: readonly string[] = [],
): Promise<Recording[]> {
  const text = await readGivenFile('--data', path);
  let recordings: Recording[];
  try {
    recordings = parseRecordings(text);
  } catch (cause) {
    throw new ArgumentError(`--data ${path}: ${reasonFor(cause)}`, { cause });
  }
  const known = recordings.map(({ id }) => id);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new ArgumentError(
      `${path} has no conversation ${unknown.join(', ')}; it has ${known.join(', ')}`,
    );
  return recordings.filter(({ id }) => ids.length === 0 || ids.includes(id));
}
