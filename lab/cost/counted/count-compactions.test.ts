import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { openAnswerFolder } from '#lab/eval/answers/answer-folder.ts';
import { parseRecordings } from '#lab/eval/replay/recording.ts';
import { startEvalBench } from '#lab/eval/run/eval-bench.ts';
import { countCompactions, turnSizes } from './count-compactions.ts';
import { readCounted, type CountedCompaction } from './counted-file.ts';
import { meanSummariser } from './summarisers.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-count-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Counts a conversation of our own as the committed count was made. */
async function countOwn(name: string): Promise<CountedCompaction[]> {
  await cp('lab/harm/answers', folder, { recursive: true });
  const text = await readFile(`lab/harm/conversations/${name}.jsonl`, 'utf8');
  const [recording] = parseRecordings(text);
  if (recording === undefined) throw new Error(`there is no conversation ${name}`);
  const answerFolder = openAnswerFolder({ folder, isLoose: true });
  const wanted = { model: 'files', vices: {}, seed: '1', strategy: 'ledger' } as const;
  const bench = await startEvalBench({ ...wanted, answerFolder }, {});
  try {
    const sizes = {
      profile: 'assistant',
      repeat: 2,
      keepFraction: 0.3,
      snapshotTokens: 1_200,
    } as const;
    return (await countCompactions(bench, { ...sizes, seed: '1' }, recording)).compactions;
  } finally {
    await bench.stop();
  }
}

const figures = [
  'roomTokens',
  'foldedTokens',
  'knownTokens',
  'calls',
  'promptTokens',
  'instructionTokens',
  'outputTokens',
  'snapshotTokens',
] as const;

describe('npm run cost:count', () => {
  test('counts the calls of a recorded conversation as the report has them, to a tenth', async () => {
    const counted = await countOwn('assistant-en');

    const committed = readCounted('own').compactions.filter(({ id }) => id === 'own/assistant-en');
    expect(counted).toHaveLength(2);
    expect(committed).toHaveLength(2);
    const differences = counted.flatMap((compaction, index) =>
      figures.filter((name) => {
        const known = committed[index]?.[name] ?? 0;
        return Math.abs(compaction[name] - known) > 0.1 * known;
      }),
    );
    expect(differences).toEqual([]);
  }, 30_000);

  test('counts the snapshot before as read, and every token of a compaction once', async () => {
    const [first, second] = await countOwn('assistant-en');

    expect(first?.knownTokens).toBe(0);
    expect(second?.knownTokens).toBe(first?.snapshotTokens);
    for (const each of [first, second]) {
      const { promptTokens = 0, instructionTokens = 0, foldedTokens = 0 } = each ?? {};
      // What is folded is rendered with numbers and speakers, and hardly longer for that.
      const read = promptTokens - instructionTokens - (each?.knownTokens ?? 0);
      expect(read).toBeGreaterThan(foldedTokens);
      expect(read).toBeLessThan(1.4 * foldedTokens);
    }
  }, 30_000);
});

describe('the sizes of a turn', () => {
  const user: Content = { role: 'user', parts: [{ text: 'Where is the harbour?' }] };
  const model: Content = {
    role: 'model',
    parts: [{ text: 'It is behind the church, on the left.' }],
  };
  const call: Content = {
    role: 'model',
    parts: [{ functionCall: { name: 'find', args: { place: 'a' } } }],
  };
  const output: Content = {
    role: 'user',
    parts: [{ functionResponse: { name: 'find', response: {} } }],
  };

  test.each([
    { name: 'a message and an answer', contents: [model], places: 2 },
    { name: 'a call and its output before the answer', contents: [call, output, model], places: 4 },
    { name: 'two contents of the model in a row', contents: [call, model], places: 2 },
    { name: 'a message without an answer', contents: [], places: 2 },
    { name: 'an output that nothing answers', contents: [call, output], places: 4 },
  ])('$name: $places', ({ contents, places }) => {
    const sizes = turnSizes({ user, contents });

    expect(sizes).toHaveLength(places);
    expect(sizes[0]).toBeGreaterThan(0);
  });

  test('add neighbours of one role', () => {
    const [, alone = 0] = turnSizes({ user, contents: [model] });

    expect(turnSizes({ user, contents: [model, model] })[1]).toBe(2 * alone);
  });
});

describe('the mean summariser', () => {
  const policy = { snapshotBudgetTokens: 2_000, softThresholdTokens: 20_000 };
  const compaction: CountedCompaction = {
    id: 'a',
    generation: 1,
    roomTokens: 1_000,
    foldedTokens: 10_000,
    knownTokens: 0,
    calls: 1,
    promptTokens: 12_000,
    instructionTokens: 2_000,
    outputTokens: 500,
    snapshotTokens: 800,
  };
  const repaired = {
    ...compaction,
    generation: 2,
    knownTokens: 800,
    calls: 2,
    promptTokens: 17_600,
    instructionTokens: 4_000,
    outputTokens: 900,
    snapshotTokens: 1_200,
  };

  test('reads what was read for each token, and writes in proportion to its budget', () => {
    const { snapshotTokens, ...rest } = meanSummariser([compaction, repaired], policy);

    expect(rest).toEqual({
      calls: 1.5,
      instructionTokens: 3_000,
      readFactor: 23_600 / 20_800,
      outputTokens: 1_400,
      isChecked: false,
    });
    // As full as those that were counted: 0.8 and 1.2 of their room.
    expect([10_000, 1_000_000].map(snapshotTokens)).toEqual([2_000, 3_000]);
  });

  test('needs something that was counted', () => {
    expect(() => meanSummariser([], policy)).toThrow(RangeError);
  });
});
