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

/** What `parse` makes of a file. Throws ArgumentError where it throws. */
export function parseGiven<Result>(
  { path, text }: { path: string; text: string },
  parse: (text: string) => Result,
): Result {
  try {
    return parse(text);
  } catch (cause) {
    throw new ArgumentError(`${path}: ${reasonFor(cause)}`, { cause });
  }
}

/** The conversations of a file. Throws ArgumentError. */
export async function readRecordings(option: string, path: string): Promise<Recording[]> {
  const text = await readGivenFile(option, path);
  return parseGiven({ path, text }, parseRecordings);
}
