import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkWritable } from './given-files.ts';

const readers = 'lab/readers/readers.ts';
const cost = 'lab/cost/cost.ts';
const bench = 'lab/bench/bench.ts';

describe('the file for the figures', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-writable-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is neither made nor emptied by the check that it can be written', async () => {
    const there = join(folder, 'there.json');
    await writeFile(there, 'earlier');

    await checkWritable('--json', there);
    await checkWritable('--json', join(folder, 'new.json'));

    expect(await readdir(folder)).toEqual(['there.json']);
    expect(await readFile(there, 'utf8')).toBe('earlier');
  });

  test('has a name', async () => {
    await expect(checkWritable('--json', '')).rejects.toThrow('--json takes a path');
  });

  test('may not be a folder', async () => {
    await expect(checkWritable('--json', folder)).rejects.toThrow(/--json \S+ cannot be written/u);
  });
});

describe('wrong files and names', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-given-'));
    const turns = ['user', 'model'].map((role) => ({ role, parts: [{ text: 'Hello' }] }));
    await writeFile(join(folder, 'talk.jsonl'), JSON.stringify({ id: 'talk', turns }));
    await writeFile(join(folder, 'short.txt'), 'Be short.');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const failureSchema = z.looseObject({ code: z.number(), stderr: z.string() });
  /** A path of the line is `@` and a name in the folder. */
  const runCommand = (command: string, line: string) =>
    promisify(execFile)(process.execPath, [
      command,
      ...line.split(' ').map((each) => each.replace('@', `${folder}/`)),
    ])
      .then(({ stderr }) => ({ code: 0, stderr }))
      .catch((error: unknown) => failureSchema.parse(error));

  test.each([
    [readers, '--data @talk.jsonl --answers @short.txt', /--answers \S+ is no folder/u],
    [readers, '--data @talk.jsonl --answers @a --json @none/out', /--json \S+ cannot be written/u],
    [readers, '--data @none --answers @a', /--data \S+ cannot be read/u],
    [readers, '--data @short.txt --answers @a', /line 1 is not a recorded conversation/u],
    [readers, '--marks @none', /--marks \S+ cannot be read/u],
    [readers, '--marks @short.txt', /--marks \S+ is no JSON/u],
    [readers, '--marks @talk.jsonl', /--marks \S+ holds no marks as --json writes them/u],
    [cost, 'extra', /Unexpected argument 'extra'/u],
    [bench, '--only estimate-ascii --report', /--report writes the whole page/u],
    [bench, '--only estimate-ascii --json @none/out', /--json \S+ cannot be written/u],
    [bench, '--only nope', /no benchmark is called nope/u],
    [readers, '--marks @short.txt --data @talk.jsonl', /--marks measures nothing/u],
    [cost, '--hit-rate 2', /--hit-rate takes a number from 0 to 1, not "2"/u],
    [cost, '--model nope', /--model takes .*gemini-3\.5-flash.*, not "nope"/u],
    [cost, '--data @talk.jsonl --report', /leave --data out/u],
    [cost, '--json @none/out', /--json \S+ cannot be written/u],
  ])('%s %s ends with 2 and says what is wrong', async (command, line, message) => {
    const { code, stderr } = await runCommand(command, line);

    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(2);
  });
});
