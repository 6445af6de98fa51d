import { open, readFile } from 'node:fs/promises';
import { ArgumentError } from './replay/replay-arguments.ts';
import { parseRecordings, type Recording } from './replay/recording.ts';

const reasonFor = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

/** Throws ArgumentError for a file that cannot be read, naming the option. */
async function readGiven(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be read: ${reasonFor(cause)}`, { cause });
  }
}

/** Before the work whose figures a file shall hold. Throws ArgumentError where it cannot be written. */
export async function checkWritable(option: string, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  try {
    const file = await open(path, 'a');
    await file.close();
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be written: ${reasonFor(cause)}`, { cause });
  }
}

/** The recordings of a --data. Throws ArgumentError for what is none. */
export async function readRecordings(path: string): Promise<Recording[]> {
  const text = await readGiven('--data', path);
  try {
    return parseRecordings(text);
  } catch (cause) {
    throw new ArgumentError(`--data ${path}: ${reasonFor(cause)}`, { cause });
  }
}

/** The other summarisers that --prompt names. Throws ArgumentError, also for a name that is taken. */
export async function readPrompts(
  prompts: readonly string[],
): Promise<{ name: string; text: string }[]> {
  // Recap's own, in tables and in the names of its prompts.
  const taken = new Set(['recap', 'ledger']);
  const read = [];
  for (const prompt of prompts) {
    const [, name, path] = /^([\w-]+)=(.+)$/u.exec(prompt) ?? [];
    if (name === undefined || path === undefined)
      throw new ArgumentError(`--prompt takes NAME=FILE, not ${prompt}`);
    if (taken.has(name))
      throw new ArgumentError(`--prompt ${prompt}: the name ${name} is taken, choose another`);
    taken.add(name);
    read.push({ name, text: await readGiven('--prompt', path) });
  }
  return read;
}
