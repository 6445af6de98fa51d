import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readEvalSettings } from '../eval-settings.ts';
import { foldedQuestions, markSchema, readArray, type Mark } from './reader-prompts.ts';
import { scores } from './reader-scores.ts';
import { scoreReaders } from './readers.ts';

const probe = { answer: 'Petrof', category: 'simple' };
const probes = [
  { ...probe, id: 'folded', question: 'Which piano?', evidenceTurnIndexes: [0, 3] },
  { ...probe, id: 'tail', question: 'Which dog?', evidenceTurnIndexes: [0, 47] },
  { ...probe, id: 'unsaid', question: 'Which boat?', category: 'abstention' },
  { ...probe, id: 'trick', question: 'Why?', category: 'adversarial', evidenceTurnIndexes: [0] },
  { id: 'open', question: 'Which car?', category: 'simple', evidenceTurnIndexes: [0] },
];

test('readers are asked questions that are spread evenly', () => {
  const many = Array.from({ length: 9 }, (_, index) => ({
    ...probe,
    id: `q${index}`,
    question: '?',
    evidenceTurnIndexes: [0],
  }));
  const asked = foldedQuestions({ probes: many }, { keepFrom: 4, count: 3 });

  expect(asked.map(({ id }) => id)).toEqual(['q0', 'q3', 'q6']);
});

test('only a mark for every answer is taken', () => {
  const place = 'judge';

  expect(readArray(markSchema, '```json\n[0, 0.5]\n```', { length: 2, place })).toEqual([0, 0.5]);
  for (const text of ['[1]', '[1, 0.7]', 'no'])
    expect(() => readArray(markSchema, text, { length: 2, place })).toThrow(
      'judge: not the array that was asked for',
    );
});

const mark = (method: string, questionId: string, value: number): Mark => ({
  method,
  recordingId: 'music',
  questionId,
  category: 'simple',
  mark: value,
});

test('a score is the mean mark, and what the first method is ahead is counted question by question', () => {
  const marks = [mark('m', 'a', 1), mark('m', 'b', 0), mark('all', 'b', 1), mark('all', 'a', 1)];

  expect(scores(marks, ['all', 'm'])).toEqual([
    {
      method: 'all',
      questions: 2,
      score: 100,
      standardError: 0,
      firstIsAhead: { points: 0, standardError: 0 },
    },
    {
      method: 'm',
      questions: 2,
      score: 50,
      standardError: expect.closeTo(35.36, 2),
      firstIsAhead: { points: 50, standardError: expect.closeTo(35.36, 2) },
    },
  ]);
});

describe('the score of readers', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-readers-'));
    const said = (role: string, text: string) => ({ role, parts: [{ text }] });
    const turns = Array.from({ length: 24 }, (_, index) => [
      said('user', `On day ${index} I played the Petrof piano for ${index + 20} minutes at home.`),
      said('model', `That is ${'really '.repeat(30)}good of you.`),
    ]).flat();
    await writeFile(join(folder, 'data.jsonl'), JSON.stringify({ id: 'music', turns, probes }));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** One run, as the command makes it. */
  async function score() {
    const path = join(folder, 'data.jsonl');
    const given = ['--score', 'readers', '--data', path, '--answers', join(folder, 'answers')];
    const settings = readEvalSettings([...given, '--repeat', '1']);
    if (settings === 'help') throw new Error('help was not asked for');
    const text = await readFile(path, 'utf8');
    const scored = await scoreReaders(settings, [{ name: 'data', path, text }]);
    return { ...scored, code: settings.answers?.exitCode(scored.isGood) };
  }

  const items = [{ text: 'Plays the Petrof piano, 20 to 36 minutes a day', sources: [1] }];
  const snapshot = JSON.stringify({
    scratchpad: '',
    operations: [{ op: 'add', section: 'user_profile', items }],
  });
  // The service refuses much smaller ones.
  const cliSnapshot = [
    '<scratchpad>They like music.</scratchpad>',
    '<state_snapshot>',
    '<overall_goal></overall_goal>',
    '<active_constraints></active_constraints>',
    `<key_knowledge>${'They talked about music, and about how good it is to play every day. '.repeat(6)}</key_knowledge>`,
    '<artifact_trail></artifact_trail>',
    '<file_system_state></file_system_state>',
    '<recent_actions></recent_actions>',
    '<task_state></task_state>',
    '</state_snapshot>',
  ].join('\n');
  /** Answers each prompt by its method and kind; readers know the piano unless they have only Gemini CLI's snapshot. */
  async function answerPrompts(): Promise<void> {
    for (const file of await readdir(join(folder, 'answers'))) {
      const [, method, kind] = /^music\.([\w-]+)\.g\d+\.(\w+)\..*prompt\.md$/u.exec(file) ?? [];
      if (method === undefined) continue;
      const prompt = await readFile(join(folder, 'answers', file), 'utf8');
      const texts: Readonly<Record<string, string>> = {
        reader: JSON.stringify([method === 'gemini-cli' ? 'unknown' : 'Petrof', 'unknown']),
        judge: JSON.stringify(
          [...prompt.matchAll(/given: (?<given>.*)$/gmu)].map(({ groups }) =>
            groups?.given === 'Petrof' ? 1 : 0,
          ),
        ),
      };
      const summary = method === 'gemini-cli' ? cliSnapshot : snapshot;
      const answer = join(folder, 'answers', file.replace('.prompt.md', '.answer.txt'));
      await writeFile(answer, texts[kind ?? ''] ?? summary);
    }
  }

  test('asks for summaries, then for readers, then for a judge, and says what each method scores', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { code, figures } = await score();
      expect({ code, figures }).toEqual({ code: 3, figures: undefined });
      await answerPrompts();
    }

    const { code, text, figures } = await score();

    expect(code).toBe(0);
    const cells = text.split('\n').map((line) => line.trim().split(/ {2,}/u));
    expect(cells.map(([method, , questions, points]) => [method, questions, points])).toEqual(
      expect.arrayContaining([
        ['recap', '2', '50.0'],
        ['recap, recall off', '2', '50.0'],
        ['gemini-cli', '2', '0.0'],
        ['whole history', '2', '50.0'],
      ]),
    );
    expect(figures).toMatchObject([
      {
        id: 'music',
        questions: [{ id: 'folded', marks: { recap: 1, 'gemini-cli': 0 } }, { id: 'unsaid' }],
      },
    ]);
  });
});
