import {
  chatCrashPoints,
  compactionCrashPoints,
  lifecycleCrashPoints,
} from '#functions/lib/crash-points.ts';
import { chatScenarios } from './chat-scenarios.ts';
import { lifecycleScenarios } from './lifecycle-scenarios.ts';
import { runCell, type CellRecord } from './run-cell.ts';
import type { Scenario } from './scenario.ts';
import { workerScenarios } from './worker-scenarios.ts';
import { describe, expect, test } from 'vitest';

/** Every named place between two effects. */
const everyPoint = Object.keys({
  ...chatCrashPoints,
  ...lifecycleCrashPoints,
  ...compactionCrashPoints,
});

const scenarios: readonly Scenario[] = [
  ...chatScenarios,
  ...lifecycleScenarios,
  ...workerScenarios,
];

/** Each scenario without a death. */
const undisturbed = new Map<Scenario, CellRecord>();
for (const scenario of scenarios) undisturbed.set(scenario, await runCell(scenario));

test('a scenario passes every crash point', () => {
  const passed = new Set(scenarios.flatMap(({ points }) => points));

  expect([...passed].toSorted()).toEqual(everyPoint.toSorted());
});

describe.each(scenarios)('$name', (scenario) => {
  const plain = undisturbed.get(scenario);

  test('an undisturbed scenario passes its crash points and leaves nothing undone', () => {
    expect(plain?.problems).toEqual([]);
    expect(scenario.points.filter((point) => !plain?.passed.has(point))).toEqual([]);
  });

  test.each(scenario.points)(
    'a scenario survives the death of its process at %s',
    async (point) => {
      const { problems, isDead, visible } = await runCell(scenario, { point });

      expect(problems).toEqual([]);
      expect(isDead).toBe(true);
      expect(scenario.mayEndOtherwise === true ? plain?.visible : visible).toBe(plain?.visible);
    },
  );

  test.each(scenario.points)(
    'the sweep alone repairs a scenario whose process was killed at %s',
    async (point) => {
      const { problems, isDead } = await runCell(scenario, { point, isLeftAlone: true });

      expect(problems).toEqual([]);
      expect(isDead).toBe(true);
    },
  );
});
