import { readPrompts, readRecordings } from '../eval/given-files.ts';
import { ArgumentError } from '../eval/replay/replay-arguments.ts';
import type { Recording } from '../eval/replay/recording.ts';
import type { OtherSummariser } from './contexts.ts';

/** The recordings that are wanted. Throws ArgumentError for what is none, and for an id that is not there. */
export async function readWanted(path: string, ids: readonly string[]): Promise<Recording[]> {
  const recordings = await readRecordings(path);
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
  const read = await readPrompts(prompts);
  return read.map(({ name, text }) => {
    const [system = ''] = text.split(/^---$/mu);
    return { name, system, roomCharacters };
  });
}
