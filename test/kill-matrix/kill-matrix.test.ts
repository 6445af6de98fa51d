import { afterAll, describe, expect, test } from 'vitest';
import {
  chatCrashPoints,
  compactionCrashPoints,
  lifecycleCrashPoints,
} from '#functions/lib/crash-points.ts';
import { mutants } from '#lab/property/mutants.ts';
import { chatScenarios } from './chat-scenarios.ts';
import { columns, type Column } from './fault.ts';
import { lifecycleScenarios } from './lifecycle-scenarios.ts';
import { runCell, type CellRecord } from './run-cell.ts';
import type { Scenario } from './scenario.ts';
import { workerScenarios } from './worker-scenarios.ts';

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

/** Each point of a scenario in each column. */
const cellsOf = (scenario: Scenario) =>
  scenario.points.flatMap((point) => columns.map((column) => ({ scenario, point, column })));

const undisturbed = new Map<string, Promise<CellRecord>>();

/** The scenario without a fault, run once. */
function runOf(scenario: Scenario): Promise<CellRecord> {
  const run = undisturbed.get(scenario.name) ?? runCell(scenario);
  undisturbed.set(scenario.name, run);
  return run;
}

/** The commit that follows a point on the process that passes it, or the last one before. */
function commitNear({ passings, commitsOf }: CellRecord, point: string): number | undefined {
  const passing = passings.get(point);
  if (!passing) return undefined;
  return Math.min(passing.commitsBefore + 1, commitsOf(passing.server));
}

const hasLaterCommit = ({ passings, commitsOf }: CellRecord, point: string): boolean => {
  const passing = passings.get(point);
  return passing !== undefined && commitsOf(passing.server) > passing.commitsBefore;
};

/** A message whose commit is refused comes again, behind those that waited for it. */
const inOrder = (column: Column, visible: string): string =>
  column === 'commit refused' ? visible.split('\n').toSorted().join('\n') : visible;

const counts = new Map<Column, number>(columns.map((column) => [column, 0]));

let leftAlone = 0;

afterAll(() => {
  const cells = [...counts].map(([column, count]) => `${column} ${count}`).join(', ');
  console.log(`kill matrix in process: ${cells}, killed and left alone ${leftAlone}`);
});

test('a scenario passes every crash point', () => {
  const passed = new Set(scenarios.flatMap(({ points }) => points));

  expect([...passed].toSorted()).toEqual(everyPoint.toSorted());
});

test.each([mutants.noOutbox, mutants.wholeDocument, mutants.bareCounter])(
  'the kill matrix finds $name',
  async ({ rewrite, breaks }) => {
    const found: string[] = [];
    for (const { scenario, point, column } of scenarios.flatMap(cellsOf)) {
      if (column !== 'throw' && column !== 'late commit') continue;
      const { problems } = await runCell(scenario, { fault: { column, point }, rewrite });
      found.push(...problems.filter((problem) => breaks.test(problem)));
      if (found.length > 0) break;
    }

    expect(found).not.toEqual([]);
  },
);

describe.each(scenarios)('$name', (scenario) => {
  test('an undisturbed scenario passes its crash points and leaves nothing undone', async () => {
    const { problems, passings } = await runOf(scenario);

    expect(problems).toEqual([]);
    expect(scenario.points.filter((point) => !passings.has(point))).toEqual([]);
  });

  test.each(cellsOf(scenario))('survives: $column at $point', async ({ point, column }) => {
    const plain = await runOf(scenario);

    const isOfCommit = column === 'reply lost' || column === 'commit refused';
    const commit = isOfCommit ? commitNear(plain, point) : undefined;
    const { problems, isFaultOver, visible } = await runCell(scenario, {
      fault: { column, point, commit },
    });

    const visibleIn = (text: string) =>
      scenario.mayEndOtherwise === true ? '' : inOrder(column, text);
    expect(problems).toEqual([]);
    expect(isFaultOver).toBe(column !== 'late commit' || hasLaterCommit(plain, point));
    expect(visibleIn(visible)).toBe(visibleIn(plain.visible));
    if (isFaultOver) counts.set(column, (counts.get(column) ?? 0) + 1);
  });

  test.each(scenario.points)(
    'the sweep alone repairs a scenario whose process was killed at %s',
    async (point) => {
      const fault = { column: 'killed', point } as const;

      const { problems, isFaultOver } = await runCell(scenario, { fault, isLeftAlone: true });

      expect(problems).toEqual([]);
      expect(isFaultOver).toBe(true);
      leftAlone += 1;
    },
  );
});
