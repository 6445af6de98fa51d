import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Emulators, MissingEmulators } from '#infra/local/emulators.ts';
import type { ModelChoice } from './stack-environment.ts';

/** What holds the data, for people. */
export function backendName(emulators: Emulators | MissingEmulators, isAsked: boolean): string {
  if (!('missing' in emulators)) return `Firestore and Pub/Sub emulators (${emulators.source})`;
  const why = isAsked ? 'as asked' : `no emulator found: ${emulators.missing}`;
  return `embedded in-memory store and bus (${why}); what is stored ends with it`;
}

/** Who answers, for people; `ownModel` is one of the app's. */
export function modelName(model: ModelChoice, ownModel?: string): string {
  if (ownModel !== undefined) return `${ownModel}, the model of the app`;
  switch (model.kind) {
    case 'fake-gemini':
      return 'fake Gemini (set GEMINI_API_KEY for the real one)';
    case 'gemini':
      return 'Gemini API, with the GEMINI_API_KEY of this shell';
    case 'vertex':
      return `Vertex AI in ${model.project} (${model.location}), with the credentials of this shell`;
  }
}

/** Where running stacks say where they are: in the folder that their commands are given in. */
const NOTES = resolve('.local/stacks');

const noteSchema = z.object({
  processId: z.number().int().positive(),
  chatUrl: z.string(),
  /** Variables of its functions, without secrets. */
  variables: z.record(z.string(), z.string()),
});

/** A stack that runs on this machine. */
export type StackNote = z.infer<typeof noteSchema>;

/**
 * Notes a running stack, for commands that are to find it. Call the result when it stops; the note of one that
 * was killed is taken away by the next reader.
 */
export function noteStack(
  { chatUrl, variables }: Omit<StackNote, 'processId'>,
  { processId, directory = NOTES }: { processId: number; directory?: string },
): () => void {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${processId}.json`);
  const note: StackNote = { processId, chatUrl, variables };
  writeFileSync(file, `${JSON.stringify(note)}\n`);
  return () => rmSync(file, { force: true });
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

function readNote(file: string): StackNote | undefined {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** The stacks that run on this machine. Takes the notes away of those that do no more. */
export function runningStacks({ directory = NOTES }: { directory?: string } = {}): StackNote[] {
  mkdirSync(directory, { recursive: true });
  return readdirSync(directory).flatMap((name) => {
    const file = join(directory, name);
    const note = readNote(file);
    if (note && isRunning(note.processId)) return [note];
    rmSync(file, { force: true });
    return [];
  });
}
