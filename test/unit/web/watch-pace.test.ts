import { expect, test } from 'vitest';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { WATCH_MS, watchPaceMs } from '#web/state/context-state.ts';

const context = (tokens: number, state?: string): ContextObject => ({
  tokens,
  thresholdTokens: 1_000,
  windowTokens: 1_000_000,
  percent: 0.1,
  source: 'reported',
  generation: 1,
  compaction: state === undefined ? null : { state, jobId: 'j' },
});

test.each([
  ['rests below the threshold', context(999), 0, WATCH_MS.resting],
  ['looks often when the threshold was just crossed', context(1_000), 14_999, WATCH_MS.moving],
  ['rests over the threshold where nothing comes of it', context(1_016), 15_000, WATCH_MS.resting],
  ['looks often while one runs', context(1_016, 'RUNNING'), 59_999, WATCH_MS.moving],
  [
    'slows down where one waits for another try',
    context(1_016, 'QUEUED'),
    60_000,
    WATCH_MS.waiting,
  ],
  ['rests where nothing is known', undefined, 0, WATCH_MS.resting],
])('the watch pace: %s', (...[, known, unchangedMs, paceMs]) => {
  expect(watchPaceMs(known, unchangedMs)).toBe(paceMs);
});
