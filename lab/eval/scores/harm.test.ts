import { cp, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import { readEvalSettings } from '../eval-settings.ts';
import { compareStatements, rewordedIn, scoreHarm, summarise } from './harm.ts';

test.each([
  ['nothing', ['Booking QX-7719'], '- Booking QX-7719', { kept: 1, added: 0, addedLines: 0 }],
  ['a word', ['Booking QX-7719'], '- Booking QX', { kept: 0.667, added: 0, addedLines: 0 }],
  ['a Chinese character', ['東京へ'], '- 東京', { kept: 0.667, added: 0, addedLines: 0 }],
  [
    'what is added, by a line that code wrote',
    ['Hurry'],
    '- x\n- User: "hurry!"',
    { kept: 1, added: 0.8, addedLines: 1 },
  ],
  ['a tool’s words', ['No file'], '- Tool: "no file"', { kept: 1, added: 0, addedLines: 0 }],
])('harm changes %s', (_, statements, snapshotText, figures) => {
  expect(compareStatements(statements, { snapshotText })).toMatchObject(figures);
});

test('what went to the archive is kept', () => {
  const archive = [{ text: 'Booking QX-7719' }];

  expect(compareStatements(['Booking QX-7719'], { snapshotText: '- x', archive }).kept).toBe(1);
});

test.each([
  ['what says the same in fewer words', 'Fee: 1250 EUR yearly.', 1],
  ['not where the words are the same', 'The fee is 1,250 EUR a year', 0],
  ['not where a value is new', 'The fee is 1,300 EUR a year.', 0],
  ['not where there is more to it', 'The fee is 1,250 EUR a year, and due in the spring.', 0],
])('an update only rewords %s', (_, text, expected) => {
  const answer = { operations: [{ op: 'update', id: 'i1', text, sources: [3] }], topics: [] };
  const known = { id: 'i1', text: 'The fee is 1,250 EUR a year.', sources: [1] };
  const previous = {
    ...emptySnapshot('assistant'),
    sections: { key_knowledge: [{ ...known, importance: 2 as const, by: 'model' as const }] },
    nextId: 2,
  };

  expect(rewordedIn(JSON.stringify(answer), previous)).toBe(expected);
  expect(rewordedIn(JSON.stringify(answer), undefined)).toBe(0);
});

describe('verification of recorded answers', () => {
  const names = ['assistant-en', 'assistant-ja', 'assistant-zh', 'booking-tools', 'programming-en'];
  /** How a conversation is compacted: more arguments. */
  const lineSchema = z.looseObject({ harm: z.string().default('') });
  const figuresSchema = z.object({
    generations: z.array(z.looseObject({ kept: z.number(), added: z.number().optional() })),
  });

  /** Prompts without an answer are written there. */
  let answers: string;
  beforeEach(async () => {
    answers = await mkdtemp(join(tmpdir(), 'recap-harm-'));
    await cp('lab/eval/own/answers', answers, { recursive: true });
  });
  afterEach(() => rm(answers, { recursive: true }));

  async function measure(name: string) {
    const path = `lab/eval/own/conversations/${name}.jsonl`;
    const text = await readFile(path, 'utf8');
    const more = lineSchema.parse(JSON.parse(text)).harm.split(' ').filter(Boolean);
    const given = ['--score', 'harm', '--data', path, '--answers', answers, '--loose', ...more];
    const settings = readEvalSettings(given);
    if (settings === 'help') throw new Error('help was not asked for');
    const { figures, ...scored } = await scoreHarm(settings, [{ name, path, text }]);
    const { generations } = figuresSchema.parse(figures);
    return { ...scored, generations, code: settings.answers?.exitCode(true) };
  }

  test.each(names)('refuses nothing of %s, keeps 98 % and adds 5 % at most', async (name) => {
    const { generations } = await measure(name);
    const { refused, kept, added } = summarise(generations);

    expect(generations).not.toEqual([]);
    expect(refused).toBe(0);
    expect(kept).toBeGreaterThanOrEqual(0.98);
    expect(added).toBeLessThanOrEqual(0.05);
    expect(generations.filter((each) => (each.added ?? 0) > 0.1)).toEqual([]);
  });

  test('waits where an answer is missing, and measures what has one, the same each time', async () => {
    const files = await readdir(answers);
    const second = files.find((each) => each.startsWith('own_assistant-zh.ledger.g2.main')) ?? '';
    const whole = await measure('assistant-zh');
    await rename(join(answers, second), join(answers, 'elsewhere'));

    const { generations, code } = await measure('assistant-zh');

    expect(code).toBe(3);
    expect(generations).toEqual(whole.generations.slice(0, 1));
    const written = (await readdir(answers)).filter((each) => each.endsWith('.prompt.md'));
    expect(written).toEqual([expect.stringMatching(/^own_assistant-zh\.ledger\.g2\.main\./u)]);
  });
});
