import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseMarks } from './marks-file.ts';
import { measuredScores } from './reader-scores.ts';

const labels: Readonly<Record<string, string>> = {
  'whole history': 'all folded turns',
  recap: '**Recap**',
  'gemini-cli': "Gemini CLI's algorithm",
  'recap, recall off': "Recap's snapshot alone",
};

/** The rows of the published table, as the marks of a file have them. */
async function rowsFor(file: string): Promise<string[][]> {
  const path = `lab/readers/marks/${file}.json`;
  const all = measuredScores(parseMarks(path, await readFile(path, 'utf8')));
  return all.map(({ method, characters, score, standardError, firstIsAhead: ahead }, index) => [
    labels[method] ?? method,
    characters.toLocaleString('en-US'),
    `${score.toFixed(1)} % ± ${standardError.toFixed(1)}`,
    index === 0 ? '' : `${ahead.points.toFixed(1)} ± ${ahead.standardError.toFixed(1)}`,
  ]);
}

test.each([
  ['locomo', '[LoCoMo]'],
  ['beam-100k', '[BEAM]'],
])('the published scores of %s follow from the stored marks', async (file, heading) => {
  const page = await readFile('docs/benchmarks/README.md', 'utf8');

  const below = page.slice(page.indexOf(heading));
  const [table = ''] = /^\| Readers saw[^]*?\n\n/mu.exec(below) ?? [];
  const published = table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));

  const rows = await rowsFor(file);
  expect(published).toHaveLength(rows.length);
  expect(published).toEqual(expect.arrayContaining(rows));
});

const question = { id: 'q1', category: 'c', marks: { recap: 1 } };
const conversation = { id: 'a', characters: { recap: 10 }, questions: [question] };

test.each<[unknown, RegExp]>([
  [[], /expected array to have >=1 items/u],
  [[{ ...conversation, questions: [] }], /at 0.questions/u],
  [[{ ...conversation, questions: [question, question] }], /two have the same id, at 0.questions/u],
  [[{ ...conversation, characters: { recap: 10, other: 5 } }], /a mark for each method/u],
  [[{ ...conversation, characters: { recap: -5 } }], /at 0.characters.recap/u],
  [[conversation, conversation], /two have the same id/u],
  [
    [
      conversation,
      {
        id: 'b',
        characters: { other: 5 },
        questions: [{ ...question, marks: { other: 1 } }],
      },
    ],
    /all conversations have the same methods/u,
  ],
])('marks that say nothing certain are refused: %j', (marks, reason) => {
  expect(() => parseMarks('marks.json', JSON.stringify(marks))).toThrow(reason);
});
