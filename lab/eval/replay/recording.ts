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

/** One user message and the recorded answer to it. */
export interface Exchange {
  /** Text parts of the user message, as they will be sent. */
  userTexts: string[];
  /** Text parts of the recorded answer; empty when the recording has none. */
  answerTexts: string[];
  /** Which contents of the recording went into it. */
  recordedIndexes: number[];
}

export interface Script {
  exchanges: Exchange[];
  /** What is not replayed, and what was changed to make a chat of it. */
  leftOut: { toolCalls: number; toolResponses: number; otherParts: number; openingAnswers: number };
  mergedContents: number;
  splitParts: number;
}

/** Throws an Error that names the line that is no recorded conversation, or says that there is none. */
export function parseRecordings(jsonl: string): Recording[] {
  const recordings = jsonl.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [recordingSchema.parse(JSON.parse(line))];
    } catch (cause) {
      const problem = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
      throw new Error(`line ${index + 1} is not a recorded conversation: ${problem}`, { cause });
    }
  });
  if (recordings.length === 0) throw new Error('the file holds no recorded conversation');
  return recordings;
}

/** Cuts a text into pieces of at most `maxBytes` of UTF-8, never inside a code point. */
export function splitText(text: string, maxBytes: number): string[] {
  if (Buffer.byteLength(text) <= maxBytes) return [text];
  const pieces: string[] = [];
  let piece = '';
  let sizeBytes = 0;
  for (const character of text) {
    const characterBytes = Buffer.byteLength(character);
    if (sizeBytes + characterBytes > maxBytes && piece !== '') {
      pieces.push(piece);
      piece = '';
      sizeBytes = 0;
    }
    piece += character;
    sizeBytes += characterBytes;
  }
  return [...pieces, piece];
}

const hasText = (part: z.infer<typeof partSchema>): boolean =>
  part.text !== undefined && part.text.trim() !== '' && part.thought !== true;

/**
 * Makes a chat of a recording: texts only, neighbouring contents of one role as one message, each user
 * message with the answer after it, parts over `maxPartBytes` split. A conversation cannot begin with
 * the model: what the model said first is left out. Everything left out is counted.
 */
export function scriptOf(recording: Recording, limits: { maxPartBytes: number }): Script {
  const script: Script = {
    exchanges: [],
    leftOut: { toolCalls: 0, toolResponses: 0, otherParts: 0, openingAnswers: 0 },
    mergedContents: 0,
    splitParts: 0,
  };
  let previousRole: string | undefined;
  for (const [index, content] of recording.turns.entries()) {
    for (const part of content.parts) {
      if (part.functionCall) script.leftOut.toolCalls += 1;
      else if (part.functionResponse) script.leftOut.toolResponses += 1;
      else if (!hasText(part)) script.leftOut.otherParts += 1;
    }
    const texts = content.parts.filter(hasText).map((part) => (part.text ?? '').toWellFormed());
    if (texts.length === 0) continue;
    const current = script.exchanges.at(-1);
    if (content.role === 'user') {
      const pieces = texts.flatMap((text) => splitText(text, limits.maxPartBytes));
      script.splitParts += pieces.length - texts.length;
      if (previousRole === 'user' && current) {
        current.userTexts.push(...pieces);
        current.recordedIndexes.push(index);
        script.mergedContents += 1;
      } else {
        script.exchanges.push({ userTexts: pieces, answerTexts: [], recordedIndexes: [index] });
      }
    } else if (current === undefined) {
      script.leftOut.openingAnswers += 1;
      continue;
    } else {
      if (previousRole === 'model') script.mergedContents += 1;
      current.answerTexts.push(...texts);
      current.recordedIndexes.push(index);
    }
    previousRole = content.role;
  }
  return script;
}

/** The conversations of a file. Throws ArgumentError. */
export async function readRecordings(option: string, path: string): Promise<Recording[]> {
  const text = await readGivenFile(option, path);
  return parseGiven({ path, text }, parseRecordings);
}
