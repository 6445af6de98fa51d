import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ArgumentError, checkWritable } from '#infra/command-line.ts';
import { readEvalSettings } from './eval-settings.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-eval-'));
  await writeFile(join(folder, 'short.txt'), 'Be short.');
});
afterEach(() => rm(folder, { recursive: true }));

/** A path of the line is `@` and a name in the folder. */
const argumentsOf = (line: string): string[] =>
  line.split(' ').map((each) => each.replace('@', `${folder}/`));

describe('the arguments of an evaluation', () => {
  test.each([
    ['golden', { methods: ['recap'], repeat: 1 }],
    ['readers --answers @a', { methods: ['recap', 'gemini-cli', 'whole'], repeat: 3 }],
    ['attacks', { methods: ['recap', 'gemini-cli'], repeat: 1 }],
    [
      'golden --method gemini-cli --threshold 48000 --ids a,b',
      { methods: ['gemini-cli'], thresholdTokens: 48_000, ids: ['a', 'b'] },
    ],
    ['harm --answers @a --loose', { answers: expect.objectContaining({ isLoose: true }) }],
    ['tokens', { heldOut: ['crmne/ruby_llm'] }],
  ])('of %s have defaults', (line, expected) => {
    expect(readEvalSettings(argumentsOf(`--data a.jsonl --score ${line}`))).toMatchObject(expected);
  });

  test.each([
    ['--score golden', '--data is missing'],
    ['--data a', '--score is missing'],
    ['--data a --score best', '--score takes golden or readers'],
    ['--data a --score golden --keep 1', '--keep takes a number between 0 and 1'],
    ['--data a --score golden --loose', '--loose needs --answers'],
    ['--data a --score golden --answers @a --model gemini-3-flash', 'exclude each other'],
    ['--data a --score golden --answers @short.txt', 'is no folder'],
    ['--data a --score readers', '--score readers needs --answers DIR'],
    ['--data a --score harm --method gemini-cli', '--method of --score harm takes recap'],
    ['--data a --score tokens --method recap', '--score tokens takes no --method'],
    ['--data a --score golden --repeat 0', '--repeat takes a whole number'],
    ['--data a --score golden b', "Unexpected argument 'b'"],
  ])('%s are refused', (line, message) => {
    expect(() => readEvalSettings(argumentsOf(line))).toThrow(ArgumentError);
    expect(() => readEvalSettings(argumentsOf(line))).toThrow(message);
  });
});

test('the file for the figures is neither made nor emptied by the check that it can be written', async () => {
  const there = join(folder, 'there.json');
  await writeFile(there, 'earlier');

  await checkWritable('--json', there);
  await checkWritable('--json', join(folder, 'new.json'));

  expect(await readdir(folder)).not.toContain('new.json');
  expect(await readFile(there, 'utf8')).toBe('earlier');
  await expect(checkWritable('--json', folder)).rejects.toThrow(/--json \S+ cannot be written/u);
});

const failureSchema = z.looseObject({ code: z.number(), stdout: z.string(), stderr: z.string() });
const runCommand = (command: string, line: string) =>
  promisify(execFile)(process.execPath, [command, ...argumentsOf(line)])
    .then((done) => ({ code: 0, ...done }))
    .catch((error: unknown) => failureSchema.parse(error));

const evaluation = 'lab/eval/eval.ts';

test('a data file that is none ends a command with 2, and says what is wrong', async () => {
  const { code, stderr } = await runCommand(evaluation, '--score golden --data @short.txt');

  expect(stderr).toMatch(/line 1 is not a recorded conversation/u);
  expect(stderr).not.toContain('    at ');
  expect(code).toBe(2);
});
