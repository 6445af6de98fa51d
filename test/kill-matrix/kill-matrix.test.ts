import {
  chatCrashPoints,
  compactionCrashPoints,
  lifecycleCrashPoints,
} from '#functions/lib/crash-points.ts';
import { chatScenarios } from './chat-scenarios.ts';
import type { Column } from './faulty-world.ts';
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

/** Each scenario without a fault. */
const undisturbed = new Map<Scenario, CellRecord>();
for (const scenario of scenarios) undisturbed.set(scenario, await runCell(scenario));

interface Cell {
  column: Column;
  point: string;
  commit?: number;
}

/** The first of the points between which the process commits the same way. */
const firstOfEach = <Point extends { commit: number }>(points: readonly Point[]): Point[] =>
  points.filter(({ commit }, index) => points.findIndex((one) => one.commit === commit) === index);

/** A fault of the process at each point, and one of each commit that follows a point or is the last before it. */
function cellsOf(scenario: Scenario): Cell[] {
  const plain = undisturbed.get(scenario);
  const passed = scenario.points.flatMap((point) => {
    const passing = plain?.passings.get(point);
    if (!plain || !passing) return [];
    const last = plain.commitsOf(passing.server);
    return [
      {
        point,
        commit: Math.min(passing.commitsBefore + 1, last),
        before: passing.commitsBefore,
        last,
      },
    ];
  });
  const late = passed.filter(({ before, last }) => before < last);
  return [
    ...scenario.points.flatMap((point): Cell[] => [
      { column: 'throw', point },
      { column: 'killed', point },
    ]),
    ...firstOfEach(late).map(({ point }): Cell => ({ column: 'late commit', point })),
    ...firstOfEach(passed).flatMap(({ point, commit }): Cell[] => [
      { column: 'commit refused', point, commit },
      { column: 'reply lost', point, commit },
    ]),
  ];
}

/** Of the points at which the same has been stored, the first. */
function storedOtherwise(scenario: Scenario): string[] {
  const passings = undisturbed.get(scenario)?.passings;
  const points = scenario.points.map((point) => ({
    point,
    commit: passings?.get(point)?.commitsBefore ?? 0,
  }));
  return firstOfEach(points).map(({ point }) => point);
}

/** A message whose commit is refused comes again, behind those that waited for it. */
const inOrder = (column: Column, visible: string): string =>
  column === 'commit refused' ? visible.split('\n').toSorted().join('\n') : visible;

test('a scenario passes every crash point', () => {
  const passed = new Set(scenarios.flatMap(({ points }) => points));

  expect([...passed].toSorted()).toEqual(everyPoint.toSorted());
});

describe.each(scenarios)('$name', (scenario) => {
  const plain = undisturbed.get(scenario);

  test('an undisturbed scenario passes its crash points and leaves nothing undone', () => {
    expect(plain?.problems).toEqual([]);
    expect(scenario.points.filter((point) => !plain?.passings.has(point))).toEqual([]);
  });

  test.each(cellsOf(scenario))('survives: $column at $point', async (fault) => {
    const { problems, isFaultOver, visible } = await runCell(scenario, { fault });

    const visibleIn = (text = '') =>
      scenario.mayEndOtherwise === true ? '' : inOrder(fault.column, text);
    expect(problems).toEqual([]);
    expect(isFaultOver).toBe(true);
    expect(visibleIn(visible)).toBe(visibleIn(plain?.visible));
  });

  test.each(storedOtherwise(scenario))(
    'the sweep alone repairs a scenario whose process was killed at %s',
    async (point) => {
      const fault = { column: 'killed', point } as const;

      const { problems, isFaultOver } = await runCell(scenario, { fault, isLeftAlone: true });

      expect(problems).toEqual([]);
      expect(isFaultOver).toBe(true);
    },
  );
});
