import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const failureSchema = z.looseObject({ code: z.number(), stdout: z.string() });

let folder: string;
let answers: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-harm-command-'));
  answers = join(folder, 'answers');
  await cp('lab/harm/answers', answers, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

/** The command on a conversation of our own that is compacted twice. */
async function runHarm(): Promise<{ code: number; stdout: string; json: string; files: string[] }> {
  const out = join(folder, 'out.json');
  const settings = ['--loose', '--repeat', '2', '--snapshot-tokens', '1200', '--json', out];
  const data = ['--data', 'lab/harm/conversations/assistant-zh.jsonl', '--answers', answers];
  const { code, stdout } = await run(process.execPath, ['lab/harm/harm.ts', ...data, ...settings])
    .then((done) => ({ code: 0, ...done }))
    .catch((error: unknown) => failureSchema.parse(error));
  return { code, stdout, json: await readFile(out, 'utf8'), files: await readdir(answers) };
}

const generationsIn = (json: string): number[] =>
  z
    .object({ generations: z.array(z.looseObject({ generation: z.number() })) })
    .parse(JSON.parse(json))
    .generations.map(({ generation }) => generation);

async function takeAwaySecondAnswer(): Promise<() => Promise<void>> {
  const name =
    (await readdir(answers)).find((each) => each.startsWith('own_assistant-zh.ledger.g2.main')) ??
    '';
  await rename(join(answers, name), join(folder, name));
  return () => rename(join(folder, name), join(answers, name));
}

describe('npm run eval:harm', () => {
  test('names the prompt that waits for an answer, and measures what has one', async () => {
    await takeAwaySecondAnswer();

    const { code, stdout, json, files } = await runHarm();

    expect(code).toBe(3);
    const prompt = files.find((name) => name.startsWith('own_assistant-zh.ledger.g2.main')) ?? '';
    expect(prompt).toMatch(/\.prompt\.md$/u);
    expect(stdout).toContain(join(answers, prompt));
    expect(generationsIn(json)).toEqual([1]);
  });

  test('is repeatable to the byte once all is answered', async () => {
    const putBack = await takeAwaySecondAnswer();
    await runHarm();
    await putBack();

    const first = await runHarm();
    const second = await runHarm();

    expect(generationsIn(first.json)).toEqual([1, 2]);
    expect(first.stdout).toContain('own/assistant-zh');
    expect(second).toEqual(first);
  });
});
