import { cp, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { emptySnapshot, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { exitCode } from '../answers/answer-folder.ts';
import { readEvalSettings } from '../eval-settings.ts';
import {
  compareStatements,
  contentWords,
  linesAdded,
  rewordedIn,
  scoreHarm,
  statementsIn,
  summarise,
} from './harm.ts';

describe('the words that count', () => {
  test.each([
    ['The booking is QX-7719, for 3 nights.', ['booking', 'qx', '7719', '3', 'nights']],
    ['東京へ', ['東', '京', 'へ']],
    ['서울 여행', ['서울', '여행']],
    ['It is what it was', ['what']],
  ])('of %s', (text, words) => {
    expect(contentWords(text)).toEqual(words);
  });
});

describe('lines that code has added', () => {
  test.each([
    ['- User: "never on Mondays"', true],
    ['- Tool: "file not found"', false],
    ['- Shown by the user: "closed on Mondays"', true],
    ['- The user said "never on Mondays"', false],
    ['- User: wants "never on Mondays" kept', false],
    ['- Never on Mondays', false],
  ])('%s: %s', (line, isAdded) => {
    expect(linesAdded(`<key_knowledge>\n${line}\n</key_knowledge>`)).toEqual(isAdded ? [line] : []);
  });
});

describe('the statements of an answer', () => {
  test.each([
    [{ operations: [{ op: 'add', items: [{ text: 'a' }, { text: 'b' }] }] }, ['a', 'b']],
    [{ operations: [{ op: 'update', id: 'i1', text: 'c' }] }, ['c']],
    [{ operations: [{ op: 'remove', id: 'i1', reason: 'd' }] }, []],
    ['no ledger', []],
  ])('%j', (answer, statements) => {
    expect(statementsIn(JSON.stringify(answer))).toEqual(statements);
  });

  test('are none where it cannot be read', () => {
    expect(statementsIn('{"operations":[')).toEqual([]);
  });
});

describe('harm', () => {
  test('is none where all is kept and nothing added', () => {
    expect(compareStatements(['Booking QX-7719'], { snapshotText: '- Booking QX-7719' })).toEqual({
      statements: 1,
      kept: 1,
      added: 0,
      addedLines: 0,
    });
  });

  test('is the share of words that are gone, and of characters that are new', () => {
    const snapshotText = '- Booking QX\n- User: "hurry!"';

    expect(compareStatements(['Booking QX-7719', 'Hurry'], { snapshotText })).toEqual({
      statements: 2,
      kept: 0.75,
      added: 0.552,
      addedLines: 1,
    });
  });

  test('is none to what went to the archive', () => {
    const archive = [{ text: 'Booking QX-7719' }];

    expect(compareStatements(['Booking QX-7719'], { snapshotText: '- Hurry', archive }).kept).toBe(
      1,
    );
  });

  test('of all counts a refusal as nothing kept, and not among what was added', () => {
    expect(summarise([{ kept: 1, added: 0.1 }, { kept: 0 }])).toEqual({
      generations: 2,
      refused: 1,
      kept: 0.5,
      added: 0.1,
    });
  });
});

describe('an update only rewords', () => {
  const previous: Snapshot = {
    ...emptySnapshot('assistant'),
    sections: {
      key_knowledge: [
        {
          id: 'i1',
          text: 'The fee is 1,250 EUR a year.',
          sources: [1],
          importance: 2,
          by: 'model',
        },
      ],
    },
    nextId: 2,
  };
  const update = (text: string) =>
    JSON.stringify({ operations: [{ op: 'update', id: 'i1', text, sources: [3] }], topics: [] });

  test.each([
    ['what says the same in fewer words', 'Fee: 1250 EUR yearly.', 1],
    ['not where the words are the same', 'The fee is 1,250 EUR a year', 0],
    ['not where a value is new', 'The fee is 1,300 EUR a year.', 0],
    ['not where there is more to it', 'The fee is 1,250 EUR a year, and due in the spring.', 0],
  ])('%s', (_case, text, expected) => {
    expect(rewordedIn(update(text), previous)).toBe(expected);
  });

  test('nothing where nothing was known', () => {
    expect(rewordedIn(update('Fee: 1250 EUR yearly.'), undefined)).toBe(0);
  });
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
    return { ...scored, generations, code: exitCode(true, settings.answers) };
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

  test('waits where an answer is missing, and measures what has one', async () => {
    const files = await readdir(answers);
    const second = files.find((each) => each.startsWith('own_assistant-zh.ledger.g2.main')) ?? '';
    await rename(join(answers, second), join(answers, 'elsewhere'));

    const { generations, code } = await measure('assistant-zh');

    expect(code).toBe(3);
    expect(generations).toHaveLength(1);
    const written = (await readdir(answers)).filter((each) => each.endsWith('.prompt.md'));
    expect(written).toEqual([expect.stringMatching(/^own_assistant-zh\.ledger\.g2\.main\./u)]);
  });

  test('is repeatable to the byte', async () => {
    const first = await measure('assistant-zh');

    expect(await measure('assistant-zh')).toEqual(first);
  });
});
