import { readFile } from 'node:fs/promises';
import { ArgumentError } from '../eval/replay/replay-arguments.ts';
import { parseRecordings, type Recording } from '../eval/replay/recording.ts';
import type { OtherSummariser } from './contexts.ts';

/** Throws ArgumentError for a file that cannot be read, naming the option. */
async function readGiven(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ArgumentError(`${option} ${path} cannot be read: ${reason}`, { cause });
  }
}

/** The recordings that are wanted. Throws ArgumentError for what is none, and for an id that is not there. */
export async function readWanted(path: string, ids: readonly string[]): Promise<Recording[]> {
  const text = await readGiven('--data', path);
  let recordings: Recording[];
  try {
    recordings = parseRecordings(text);
  } catch (cause) {
    throw new ArgumentError(`--data ${path}: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    });
  }
  const unknown = ids.filter((id) => recordings.every((recording) => recording.id !== id));
  if (unknown.length > 0)
    throw new ArgumentError(
      `--ids: ${path} has no ${unknown.join(', ')}; it has ${recordings.map(({ id }) => id).join(', ')}`,
    );
  return recordings.filter(({ id }) => ids.length === 0 || ids.includes(id));
}

/** Throws ArgumentError. */
export async function readSummarisers(
  prompts: readonly string[],
  roomCharacters: number,
): Promise<OtherSummariser[]> {
  return Promise.all(
    prompts.map(async (prompt) => {
      const [, name, path] = /^([\w-]+)=(.+)$/u.exec(prompt) ?? [];
      if (name === undefined || path === undefined)
        throw new ArgumentError(`--prompt takes NAME=FILE, not ${prompt}`);
      const [system = ''] = (await readGiven('--prompt', path)).split(/^---$/mu);
      return { name, system, roomCharacters };
    }),
  );
}
