import { inHistories, inJob } from './planted-compaction.ts';
import { inContext } from './planted-context.ts';
import { inErasure } from './planted-erasure.ts';
import { inTranscript } from './planted-transcript.ts';
import type { Planted } from './planting.ts';

/** Every corruption, each of which is to be found by its name at its place. */
export const planted: readonly Planted[] = [
  ...inTranscript,
  ...inContext,
  ...inHistories,
  ...inJob,
  ...inErasure,
];
