import type { ConstantTable } from '#shared/constant.ts';

/** Numbers of the snapshot and of its reader. */
export const snapshotConstants = {
  snapshotBudgetFraction: {
    value: 0.1,
    unit: 'fraction of the soft threshold',
    origin: 'snapshot + tail come to about 0.4 × threshold',
    configure: 'follows the soft threshold',
  },
  snapshotBudgetMinimumTokens: {
    value: 400,
    unit: 'tokens',
    origin: 'below it seven sections have no room',
    configure: 'fixed',
  },
  snapshotBudgetMaximumTokens: {
    value: 8_192,
    unit: 'tokens',
    origin: 'fixed ceiling: a summary must not grow with what it covers',
    configure: 'fixed',
  },
  snapshotCeilingFactor: {
    value: 2,
    unit: '× snapshot budget',
    origin: 'models overshoot a stated size; twice is refused',
    configure: 'fixed',
  },
  snapshotFloorTokens: {
    value: 10,
    unit: 'tokens',
    origin: 'less is a refusal or an accident, not a memory',
    configure: 'fixed',
  },
  summaryOutputTokens: {
    value: 32_768,
    unit: 'tokens',
    origin: 'thoughts + scratchpad + the largest snapshot: models bill thoughts as output',
    configure: 'fixed',
  },
  summaryOutputWindowFraction: {
    value: 0.25,
    unit: 'fraction of the summariser’s window',
    origin: 'leaves a small window room for what is summarised',
    configure: 'fixed',
  },
  summariserPartialFraction: {
    value: 0.6,
    unit: 'fraction of the summariser’s window',
    origin: 'what a small window may hold of the turns, and a large one when not all of them fit',
    configure: 'fixed',
  },
  hookNoteTokens: {
    value: 2_000,
    unit: 'tokens',
    origin: 'notes of hooks say what matters, they bring no history of their own',
    configure: 'fixed',
  },
  hookNoteWindowFraction: {
    value: 0.05,
    unit: 'fraction of the summariser’s window',
    origin: 'a small window stays for the turns',
    configure: 'fixed',
  },
  snapshotAnswerMaximumCharacters: {
    value: 400_000,
    unit: 'characters',
    origin: 'twice the largest ceiling plus a scratchpad',
    configure: 'argument of `readSnapshot`',
  },
  snapshotCandidateLimit: {
    value: 32,
    unit: 'opening tags tried',
    origin: 'keeps reading linear for hostile answers',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
