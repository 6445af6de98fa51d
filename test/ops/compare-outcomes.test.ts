import { describe, expect, test } from 'vitest';
import { variantFigures, readOutcomes } from '#infra/ops/compare-outcomes.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import { decodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { compactedThrice, verifyWorld } from '../support/compaction/verifying.ts';

const now = new Date('2026-01-02T03:04:05.000Z');

const world = verifyWorld();
const [stored] = await world.store.get([historyPath(await compactedThrice(world), 1)]);
if (!stored) throw new Error('the conversation was not compacted');
const swap = (changes: Partial<History>): History => ({ ...decodeHistory(stored), ...changes });

const record = (changes: Partial<CompactionRecord>): CompactionRecord => ({
  requestId: 'r',
  state: 'NOOP',
  trigger: 'auto',
  requestedAt: now,
  finishedAt: now,
  beforeTokens: 1_000,
  afterTokens: 1_000,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 1,
  ...changes,
});

describe('outcomes of a conversation', () => {
  test('the outcomes of a conversation are its swaps and the other attempts on record', () => {
    const outcomes = readOutcomes({
      histories: [swap({ variant: 'small' }), swap({ generation: 2, state: 'RESTORED' })],
      records: [
        record({ state: 'COMPACTED', generation: 1 }),
        record({ state: 'FAILED_ERROR', variant: 'small' }),
        record({ state: 'NOOP' }),
      ],
      ratings: [],
      variant: 'peer',
    });

    expect(outcomes.map(({ variant, kind }) => `${variant} ${kind}`)).toEqual([
      'small compacted',
      'small failed',
      'peer nothing',
    ]);
  });

  test('a swap outcome has the rating of its generation', () => {
    const ratings = [{ schemaVersion: 1, generation: 1, score: 2, time: now } as const];

    expect(
      readOutcomes({ histories: [swap({})], records: [], ratings, variant: '' }),
    ).toMatchObject([{ score: 2 }]);
  });
});

test('outcome figures say how many attempts failed, and how many of these were refused summaries', () => {
  const outcomes = readOutcomes({
    histories: [swap({}), swap({ state: 'CONTENT_TRUNCATED' })],
    records: [
      record({ state: 'FAILED_VERIFICATION' }),
      record({ state: 'FAILED_EMPTY_SUMMARY' }),
      record({ state: 'FAILED_ERROR' }),
    ],
    ratings: [],
    variant: '',
  });
  const figures = variantFigures({ conversations: new Map(), outcomes: new Map([['', outcomes]]) });

  expect(figures).toMatchObject([{ attempts: 5, compacted: 2, failed: 3, refused: 2 }]);
});

test('outcome figures are means of the swaps; a mean of nothing is none', () => {
  const outcome = { kind: 'compacted', costMicros: 100 } as const;
  const figures = variantFigures({
    conversations: new Map([
      ['', 5],
      ['small', 2],
    ]),
    outcomes: new Map([
      [
        'small',
        [
          { ...outcome, variant: 'small', beforeTokens: 1_000, afterTokens: 400, score: 5 },
          { ...outcome, variant: 'small', beforeTokens: 3_000, afterTokens: 600 },
          { ...outcome, variant: 'small', beforeTokens: 9, afterTokens: 9, kind: 'nothing' },
        ],
      ],
    ]),
  });

  expect(figures).toMatchObject([
    { variant: '', conversations: 5, attempts: 0, meanBeforeTokens: undefined },
    {
      variant: 'small',
      conversations: 2,
      attempts: 3,
      compacted: 2,
      nothing: 1,
      meanBeforeTokens: 2_000,
      meanAfterTokens: 500,
      ratings: 1,
      meanScore: 5,
    },
  ]);
});
