import { expect, test } from 'vitest';
import { defectsIn, toolsText, type ReplayedDialogue } from './tool-figures.ts';

const sound: ReplayedDialogue = {
  id: 'd1',
  turns: 4,
  calls: 3,
  parallel: 1,
  stopped: 1,
  filled: 1,
  prompts: 9,
  refusals: [],
  failures: [],
  transcript: [],
  outputBudgetTokens: 1_000,
  mostOutputTokens: 900,
  overBudget: 0,
  afterSwap: { prompts: 2, overBudget: 0 },
  contexts: { compared: 4, different: [] },
  compactions: { COMPACTED: 1, 'FAILED_INFLATED_TOKEN_COUNT SAVES_TOO_LITTLE': 1 },
  errors: [],
  loops: { callAlarms: 0, chantAlarms: 0 },
};

test('a replay that holds what it must has no defect', () => {
  expect(defectsIn([sound, sound])).toEqual([]);
});

test.each<[string, Partial<ReplayedDialogue>]>([
  ['refused', { refusals: ['400'] }],
  ['failed', { failures: ['turn 2 failed'] }],
  ['failed', { errors: ['unhandled'] }],
  ['differ', { transcript: ['turn 2 lacks a call'] }],
  ['broken', { compactions: { FAILED_ERROR: 1 } }],
  ['others', { contexts: { compared: 4, different: ['turn 3'] } }],
  ['over', { overBudget: 1 }],
  ['after', { afterSwap: { prompts: 2, overBudget: 1 } }],
  ['loops', { loops: { callAlarms: 1, chantAlarms: 0 } }],
  ['loops', { loops: { callAlarms: 0, chantAlarms: 1 } }],
])('a figure in the column %s is one: %o', (column, found) => {
  const dialogues = [sound, { ...sound, ...found }];

  expect(defectsIn(dialogues)).toEqual([column]);
  expect(toolsText([{ file: 'f', dialogues }]).split('\n')[0]).toContain(column);
});
