import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Canary } from './canary.ts';
import { drawCanaries, plantCanaries } from './plant.ts';
import { survives } from './survival.ts';

const run = promisify(execFile);
const failureSchema = z.looseObject({ code: z.number(), stdout: z.string() });

const topics = ['tides', 'moss', 'kites', 'clay', 'drums', 'glass', 'wool', 'tin', 'salt', 'cork'];
const recording = {
  id: 'talk',
  turns: Array.from({ length: 60 }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('model' as const),
    parts: [{ text: `Part ${index}: more about ${topics[(index >> 1) % 10]}. `.repeat(15) }],
  })),
};
const cut = { rounds: 5, keepFraction: 0.1 };
const plant = (seed: string) =>
  plantCanaries(recording, drawCanaries(recording, { seed, each: 2 }), { ...cut, seed });

describe('planted sentences', () => {
  test('are the same for the same seed, and others for another', () => {
    expect(plant('1')).toEqual(plant('1'));
    expect(JSON.stringify(plant('1'))).not.toBe(JSON.stringify(plant('2')));
  });

  test('all stand in messages of the user in the first fifth, corrections behind what they correct', () => {
    const canaries = drawCanaries(recording, { seed: '1', each: 3 });

    const planted = plantCanaries(recording, canaries, { ...cut, seed: '1' }).turns;
    const first = planted
      .slice(0, planted.length / 5)
      .filter(({ role }) => role === 'user')
      .flatMap(({ parts }) => parts.map(({ text }) => text))
      .join('\n');
    const places = canaries.map(({ sentence }) => first.indexOf(sentence));
    const corrected = canaries.filter(({ correction }) => correction !== undefined);

    expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
    expect(corrected).toHaveLength(3);
    for (const { sentence, correction = '' } of corrected)
      expect(first.indexOf(correction)).toBeGreaterThan(first.indexOf(sentence));
  });

  test('survive in their own words, and their questions do not say what they ask for', () => {
    for (const canary of drawCanaries(recording, { seed: '7', each: 3 })) {
      expect(survives(canary, canary.correction ?? canary.sentence)).toBe(true);
      expect(survives(canary, canary.question)).toBe(false);
    }
  });
});

describe('survival', () => {
  const canary = (needs: string[][], outdated?: string): Canary => ({
    type: 'any',
    sentence: '',
    question: '',
    needs,
    ...(outdated !== undefined && { outdated }),
  });
  const drawn = (type: string) =>
    drawCanaries(recording, { seed: '3', each: 1 }).find((each) => each.type === type) ??
    canary([]);

  test.each([
    ['**437\u00A0Litres** of water', true],
    ['437-litres barrel', true],
    ['1,437 litres', false],
    ['437.5 litres', false],
    ['437 bottles', false],
  ])('of 437 litres in "%s" is %s', (text, expected) => {
    expect(survives(canary([['437 litres']]), text)).toBe(expected);
  });

  test('counts a date, a time and an amount in other spellings', () => {
    const [date] = drawn('date').needs;
    const [time] = drawn('time').needs;
    const [money] = drawn('money').needs;

    expect(date).toEqual(expect.arrayContaining([expect.stringMatching(/^\d{4}-\d\d-\d\d$/u)]));
    expect(time).toEqual(expect.arrayContaining([expect.stringMatching(/^\d+:\d\d [ap]\.m\.$/u)]));
    expect(money).toEqual(expect.arrayContaining([expect.stringMatching(/^\d{4} dollars$/u)]));
  });

  test('needs what belongs together in one place', () => {
    const decision = canary([['Kelrick Quay'], ['Maren Tovdane']]);

    expect(survives(decision, '- Reunion: Kelrick Quay\n  - reason: Maren Tovdane')).toBe(true);
    expect(survives(decision, `Kelrick Quay\n${'x '.repeat(100)}\nMaren Tovdane`)).toBe(false);
  });

  test('of a correction is lost where the old value is still given as current', () => {
    const room = canary([['512']], '214');

    expect(survives(room, 'The hall has room for 512 guests.')).toBe(true);
    expect(survives(room, 'The hall has room for 512 guests (not 214).')).toBe(true);
    expect(survives(room, 'It was 214 guests.\nNow 512.')).toBe(true);
    expect(survives(room, 'The hall has room for 214 guests.')).toBe(false);
    expect(survives(room, 'Room for 214 guests, 512 guests.')).toBe(false);
    expect(survives(room, 'Hall for 512 guests.\nThe hall has room for 214 guests.')).toBe(false);
  });

  test('of a prohibition is lost where only its value is left', () => {
    const prohibition = drawn('prohibition');
    const [value = ''] = prohibition.needs[0] ?? [];

    expect(survives(prohibition, `Do not call until ${value}.`)).toBe(true);
    expect(survives(prohibition, `Calls: ${value}.`)).toBe(false);
  });
});

describe('npm run eval:canaries', () => {
  let folder: string;
  let answers: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-canaries-'));
    answers = join(folder, 'answers');
    await writeFile(join(folder, 'talk.jsonl'), JSON.stringify(recording));
    await writeFile(join(folder, 'other.txt'), 'Be short.\n---\nSum it up.\n---\nSum it up again.');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const figuresSchema = z.object({
    methods: z.array(
      z.looseObject({ canaries: z.array(z.looseObject({ survived: z.array(z.boolean()) })) }),
    ),
  });

  async function runCommand(...more: string[]): Promise<{ code: number; stdout: string }> {
    const json = ['--json', join(folder, 'out.json')];
    const line = ['--data', join(folder, 'talk.jsonl'), ...json, ...more];
    return run(process.execPath, ['lab/canaries/canaries.ts', ...line])
      .then(({ stdout }) => ({ code: 0, stdout }))
      .catch((error: unknown) => failureSchema.parse(error));
  }

  async function countSurvivors(): Promise<number[]> {
    const { methods } = figuresSchema.parse(
      JSON.parse(await readFile(join(folder, 'out.json'), 'utf8')),
    );
    return [0, 1, 2, 3, 4].map(
      (round) => (methods[0]?.canaries ?? []).filter(({ survived }) => survived[round]).length,
    );
  }

  test('shows what a forgetful summariser loses, the same in every run', async () => {
    const options = ['--vices', 'forgetful=0.6', '--snapshot-tokens', '600'];
    const { code, stdout } = await runCommand(...options);
    const again = await runCommand(...options);
    const forgetful = await countSurvivors();
    await runCommand('--snapshot-tokens', '6000');
    const faithful = await countSurvivors();

    expect(code).toBe(0);
    expect(again.stdout).toBe(stdout);
    expect(stdout).toMatch(/^recap +planted +round 1/u);
    expect(forgetful[4]).toBeLessThan(faithful[4] ?? 0);
  });

  const files = () => ['--model', 'files', '--answers', answers];
  const other = () => ['--prompt', `other=${join(folder, 'other.txt')}`];

  test('names the prompts that wait for an answer, of every method, writes no figures, and ends with 3', async () => {
    const { code, stdout } = await runCommand(...files(), ...other());

    const names = await readdir(answers);
    expect(code).toBe(3);
    expect(await readdir(folder)).not.toContain('out.json');
    expect(names).toHaveLength(2);
    for (const name of names) expect(stdout).toContain(name);
    const prompt = await readFile(
      join(answers, names.find((each) => each.includes('other')) ?? ''),
      'utf8',
    );
    expect(prompt).toContain('Be short.');
    expect(prompt).toContain('Sum it up.');
    expect(prompt).not.toContain('---');
  });

  test('goes on from the summary of another instruction, round by round', async () => {
    const few = ['--rounds', '3', '--snapshot-tokens', '900'];
    const options = [...files(), '--methods', '', ...other(), ...few];
    let result = await runCommand(...options);
    for (let round = 1; result.code === 3; round += 1) {
      const prompts = await readdir(answers);
      const prompt = prompts.find((each) => each.includes(`.g${round}.`)) ?? '';
      const text = await readFile(join(answers, prompt), 'utf8');
      expect(text).toContain('at most 900 tokens');
      expect(text.includes('Sum it up again.')).toBe(round > 1);
      const kept = round < 3 ? text.replaceAll(/^(?:###|#) .*$/gmu, '') : 'Nothing of note.';
      await writeFile(join(answers, prompt.replace('.prompt.md', '.answer.txt')), kept);
      result = await runCommand(...options);
    }

    const survivors = await countSurvivors();
    expect(survivors.slice(0, 3)).toEqual([28, 28, 0]);
    expect(result.stdout).toMatch(/^all +30 +93\.3 +93\.3 +0\.0 +-$/mu);
  });
});
