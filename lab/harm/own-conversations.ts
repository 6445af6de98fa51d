import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { missingPrompts, openAnswerFolder, stalePlaces } from '../eval/answers/answer-folder.ts';
import { parseModeArguments } from '../eval/eval-mode.ts';
import { startEvalBench } from '../eval/run/eval-bench.ts';
import { parseRecordings, type Recording } from '../eval/replay/recording.ts';
import { harmDefaults } from './harm-defaults.ts';
import { measureHarm, type HarmedGeneration } from './harm-run.ts';

const conversationsFolder = fileURLToPath(new URL('conversations', import.meta.url));
const answersFolder = fileURLToPath(new URL('answers', import.meta.url));

/** What came of a conversation of our own with the answers that are recorded for it. */
export interface OwnResult {
  /** How to see the same: the command with its arguments. */
  command: string;
  generations: HarmedGeneration[];
  /** Whether it cannot go on without one of `missing`. */
  waits: boolean;
  /** Names of prompts that nothing answers. */
  missing: string[];
  /** Places whose answers were written to an earlier form of the prompt. */
  stale: string[];
}

const withArguments = z.looseObject({ harm: z.string().default('') });

async function measureOne(
  recording: Recording,
  { file, answers }: { file: string; answers: string },
): Promise<OwnResult> {
  const { harm } = withArguments.parse(recording);
  const more = harm.split(' ').filter((each) => each !== '');
  const command = ['--data', file, '--answers', 'lab/harm/answers', '--loose', ...more];
  const wanted = parseModeArguments(command, harmDefaults);
  if (wanted === 'help') throw new Error(`${recording.id}: "harm" must not ask for help`);
  const answerFolder = openAnswerFolder({ folder: answers, isLoose: true });
  const bench = await startEvalBench({ ...wanted, strategy: 'ledger', answerFolder }, {});
  try {
    const generations = await measureHarm(bench, wanted, recording);
    const asked = answerFolder.asked();
    return {
      command: `npm run eval:harm -- ${command.join(' ')}`,
      generations,
      waits: answerFolder.isWaiting(),
      missing: missingPrompts(asked).map(({ name }) => name),
      stale: stalePlaces(asked),
    };
  } finally {
    await bench.stop();
  }
}

/** Compacts every conversation of our own. Prompts without an answer are written beside a copy of the answers. */
export async function measureOwnConversations(): Promise<OwnResult[]> {
  const answers = await mkdtemp(join(tmpdir(), 'recap-harm-'));
  try {
    await cp(answersFolder, answers, { recursive: true });
    const results: OwnResult[] = [];
    for (const name of readdirSync(conversationsFolder).toSorted()) {
      const file = `lab/harm/conversations/${name}`;
      for (const recording of parseRecordings(
        readFileSync(join(conversationsFolder, name), 'utf8'),
      ))
        results.push(await measureOne(recording, { file, answers }));
    }
    return results;
  } finally {
    await rm(answers, { recursive: true });
  }
}
