import { z } from 'zod';
import { parseGiven, readGivenFile } from '#infra/command-line.ts';
import { partSchema } from '#shared/models/content.ts';

const probeSchema = z.looseObject({
  id: z.string(),
  question: z.string(),
  answer: z.union([z.string(), z.number()]).nullish(),
  category: z.string().optional(),
  evidenceTurnIndexes: z.array(z.number().int()).nullish(),
});

const recordingSchema = z.looseObject({
  id: z.string(),
  system: z.string().optional(),
  turns: z.array(z.looseObject({ role: z.enum(['user', 'model']), parts: z.array(partSchema) })),
  probes: z.array(probeSchema).optional(),
});
/** One recorded conversation: a line of the JSONL file. */
export type Recording = z.infer<typeof recordingSchema>;

/** One user message and the recorded answer to it; '' when the recording has none. */
export interface Exchange {
  user: string;
  model: string;
  /** Which contents of the recording went into it. */
  recordedIndexes: number[];
}

/** What the lines of a file are. Throws an Error that names the first that is none. */
export const parseLines = <Line>(jsonl: string, schema: z.ZodType<Line>, what: string): Line[] =>
  jsonl.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [schema.parse(JSON.parse(line))];
    } catch (cause) {
      const problem = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
      throw new Error(`line ${index + 1} is not ${what}: ${problem}`, { cause });
    }
  });

/** Throws an Error that names the line that is no recorded conversation, or says that there is none. */
export function parseRecordings(jsonl: string): Recording[] {
  const recordings = parseLines(jsonl, recordingSchema, 'a recorded conversation');
  if (recordings.length === 0) throw new Error('the file holds no recorded conversation');
  return recordings;
}

const textOf = ({ parts }: Recording['turns'][number]): string =>
  parts
    .filter(({ text, thought }) => text !== undefined && text.trim() !== '' && thought !== true)
    .map(({ text = '' }) => text.toWellFormed())
    .join('\n');

const joined = (before: string, text: string): string =>
  before === '' ? text : `${before}\n${text}`;

/**
 * Makes a chat of a recording: texts only, neighbouring contents of one role as one message, each user message with the
 * answer after it. A conversation cannot begin with the model: what the model said first is left out.
 */
export function exchangesOf({ turns }: Recording): Exchange[] {
  const exchanges: Exchange[] = [];
  let previousRole: string | undefined;
  for (const [index, content] of turns.entries()) {
    const text = textOf(content);
    if (text === '' || (content.role === 'model' && exchanges.length === 0)) continue;
    if (content.role === 'user' && previousRole !== 'user')
      exchanges.push({ user: '', model: '', recordedIndexes: [] });
    previousRole = content.role;
    const current = exchanges.at(-1);
    if (current === undefined) continue;
    current[content.role] = joined(current[content.role], text);
    current.recordedIndexes.push(index);
  }
  return exchanges;
}

/** The conversations of a file. Throws ArgumentError. */
export async function readRecordings(option: string, path: string): Promise<Recording[]> {
  const text = await readGivenFile(option, path);
  return parseGiven({ path, text }, parseRecordings);
}
