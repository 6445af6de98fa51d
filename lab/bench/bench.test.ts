import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { atLeast, atMost, measureGroups, verdictOf, type BenchGroup } from './measure.ts';
import { thisMachine } from './report/report.ts';
import { writeReport } from './report/write-report.ts';
import { countStore } from './worlds/counted-store.ts';

const listener = { started: () => {}, measured: () => {}, failed: () => {} };

/** A case whose samples of ours are these, beside a reference of 10. */
const groupOf = (ours: (number | Error)[], close?: () => Promise<void>): BenchGroup => ({
  name: 'turn',
  title: 'One turn',
  ...(close && { close }),
  cases: [
    {
      name: 'turn-growth',
      unit: 'ms',
      referenceName: 'a turn after 10',
      aim: atMost(1.3),
      samples: 3,
      ours: () => {
        const sample = ours.shift() ?? Number.NaN;
        if (sample instanceof Error) throw sample;
        return sample;
      },
      reference: () => 10,
    },
  ],
});

test('a figure is the median of the ratios of samples that were taken in turns', async () => {
  let isClosed = false;
  const close = () => Promise.resolve(void (isClosed = true));
  const warmUp = 99;

  const results = await measureGroups([groupOf([warmUp, 8, 12, 20], close)], {
    mostSamples: 5,
    listener,
  });

  expect(results).toMatchObject([{ ours: 12, ratio: 1.2, spread: [0.8, 2], verdict: 'met' }]);
  expect(isClosed).toBe(true);
});

test('a case that fails once is measured again, and one that fails twice has no result', async () => {
  const failing = groupOf([new Error('slow'), new Error('slow')]);
  const recovering = groupOf([new Error('slow'), 1, 10, 10, 10]);

  const results = await measureGroups([failing, recovering], { mostSamples: 3, listener });

  expect(results).toMatchObject([{ ratio: 1 }]);
});

test.each([
  [atMost(1), 0.9, [0.8, 1.2], 'met'],
  [atMost(1), 1.1, [0.9, 1.2], 'within'],
  [atMost(1), 1.2, [1.1, 1.3], 'missed'],
  [atLeast(1), 0.9, [0.8, 1.1], 'within'],
  [atLeast(1), 0.9, [0.8, 0.95], 'missed'],
  [undefined, 0.9, [0.8, 0.95], 'told'],
] as const)('an aim is missed only if the whole spread is beyond it: %j, %d in %j', (...given) => {
  const [aim, ratio, spread, verdict] = given;
  expect(verdictOf(aim, { ratio, spread })).toBe(verdict);
});

test('the report has a row for each figure, names what is missed, and draws one picture', async () => {
  const group = groupOf([0, 14, 15, 16]);
  const results = await measureGroups([group], { mostSamples: 3, listener });
  const folder = await mkdtemp(join(tmpdir(), 'recap-bench-'));

  await writeReport(folder, [group], { machine: thisMachine(), results });

  const text = await readFile(join(folder, 'speed.md'), 'utf8');
  const svg = await readFile(join(folder, 'speed.svg'), 'utf8');
  await rm(folder, { recursive: true });
  expect(text).toContain('Missed: turn-growth.');
  expect(text).toMatch(/\| turn-growth +\| 1.5 +\| 1.4 – 1.6 \| ≤ 1.3 \| \*\*no\*\* \| 15 ms /u);
  expect(svg).toContain('turn-growth');
});

test('a counted store counts documents as they are billed, absent ones too', async () => {
  const { store, take } = countStore(createMemoryDocumentStore());

  await store.commit([
    { op: 'create', path: 'a/1', fields: { n: 1 } },
    { op: 'create', path: 'a/2', fields: { n: 2 } },
  ]);
  await store.commit([{ op: 'delete', path: 'a/2' }]);
  await store.get(['a/1', 'a/2']);
  await store.query({ collection: 'a', limit: 10 });
  await store.query({ collection: 'nothing', limit: 10 });

  expect(take()).toMatchObject({ reads: 4, writes: 2 });
  expect(take()).toMatchObject({ reads: 0, batches: [] });
});
