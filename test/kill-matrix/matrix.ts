import {
  chatCrashPoints,
  compactionCrashPoints,
  lifecycleCrashPoints,
} from '#functions/lib/crash-points.ts';
import { chatScenarios } from './chat-scenarios.ts';
import { columns, type Column } from './fault.ts';
import { lifecycleScenarios } from './lifecycle-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { workerScenarios } from './worker-scenarios.ts';

/** Every named place between two effects. */
export const everyPoint: readonly string[] = [
  ...Object.keys(chatCrashPoints),
  ...Object.keys(lifecycleCrashPoints),
  ...Object.keys(compactionCrashPoints),
];

export const scenarios: readonly Scenario[] = [
  ...chatScenarios,
  ...lifecycleScenarios,
  ...workerScenarios,
];

interface Cell {
  scenario: Scenario;
  point: string;
  column: Column;
}

/** Each point of each scenario in each column. */
export const cellsOf = (scenario: Scenario): Cell[] =>
  scenario.points.flatMap((point) => columns.map((column) => ({ scenario, point, column })));
