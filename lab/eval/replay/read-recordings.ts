import { readFile } from 'node:fs/promises';
import { parseRecordings, type Recording } from './recording.ts';
import { ArgumentError } from './replay-arguments.ts';

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Throws ArgumentError, naming the option, for a file that cannot be read. */
export async function readGivenFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** The conversations of --data that are wanted; all without ids. Throws ArgumentError, also for an id that is not there. */
export async function readRecordings(path: string, ids: readonly string[]): Promise<Recording[]> {
  const text = await readGivenFile('--data', path);
  let recordings: Recording[];
  try {
    recordings = parseRecordings(text);
  } catch (cause) {
    throw new ArgumentError(`--data ${path}: ${reasonOf(cause)}`, { cause });
  }
  const known = recordings.map(({ id }) => id);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new ArgumentError(
      `${path} has no conversation ${unknown.join(', ')}; it has ${known.join(', ')}`,
    );
  return recordings.filter(({ id }) => ids.length === 0 || ids.includes(id));
}
