import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ArgumentError } from '#infra/command-line.ts';
import { readEvalSettings } from './eval-settings.ts';

test.each([
  ['golden', { methods: ['recap'], repeat: 1 }],
  ['readers --answers no-such-folder', { methods: ['recap', 'gemini-cli', 'whole'], repeat: 3 }],
  ['golden --method gemini-cli --ids a,b', { methods: ['gemini-cli'], ids: ['a', 'b'] }],
])('the arguments %s of an evaluation have defaults', (line, expected) => {
  const given = `--data a.jsonl --score ${line}`.split(' ');

  expect(readEvalSettings(given)).toMatchObject(expected);
});

test.each([
  ['golden --answers a --model gemini-3-flash', 'exclude each other'],
  ['golden --answers package.json', 'is no folder'],
  ['readers', '--score readers needs --answers DIR'],
  ['harm --method gemini-cli', '--method of --score harm takes recap'],
  ['tokens --method recap', '--score tokens takes no --method'],
])('the arguments %s of an evaluation are refused', (line, message) => {
  const given = `--data a.jsonl --score ${line}`.split(' ');

  expect(() => readEvalSettings(given)).toThrow(ArgumentError);
  expect(() => readEvalSettings(given)).toThrow(message);
});

test('a data file that is none ends an evaluation with 2, and says what is wrong', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recap-eval-'));
  const data = join(folder, 'short.txt');
  await writeFile(data, 'Be short.');
  const line = ['lab/eval/eval.ts', '--score', 'golden', '--data', data];

  const { code, stderr } = (await promisify(execFile)(process.execPath, line).catch(
    (error: { code: number; stderr: string }) => error,
  )) as { code: number; stderr: string };

  await rm(folder, { recursive: true });
  expect(stderr).toMatch(/line 1 is not a recorded conversation/u);
  expect(stderr).not.toContain('    at ');
  expect(code).toBe(2);
});
