import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runToolActions } from '#test/support/random-tools/run-tool-actions.ts';
import { toolActions } from '#test/support/random-tools/tool-actions.ts';
import type { Reached } from '#test/support/random-tools/tool-run.ts';
import { createToolStage } from '#test/support/random-tools/tool-stage.ts';
import { useToolModel } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();
fakeGemini.setVices({ signsTexts: true });

/** The same conversations in every run; TOOLS_SEED and TOOLS_RUNS look at others. */
const seed = Number(process.env.TOOLS_SEED ?? 20_261_122);
const numRuns = Number(process.env.TOOLS_RUNS ?? 80);

/** What a search that proves something has come by. */
const EXPECTED = [
  'done',
  'awaiting_tool',
  'answered: done',
  'answered: awaiting_tool',
  'taken over',
  'edit',
  'regenerate',
  'cancelled by hand',
  'COMPACTED',
  'compared',
  'shrunken',
  'TOOL_RESULT_CONFLICT',
  'switched',
  'switched within a turn',
  'several models',
  'strong',
  'signed',
];

test(
  'random conversations with tools send no refused prompt and lose nothing',
  { timeout: 300_000 },
  async () => {
    const reached: Reached = new Map();

    await fc.assert(
      fc.asyncProperty(toolActions, async (actions) => {
        const stage = await createToolStage(model);
        expect(await runToolActions(stage, { fakeGemini, reached, actions })).toEqual([]);
      }),
      { seed, numRuns },
    );

    expect([...reached.keys()]).toEqual(expect.arrayContaining(EXPECTED));
  },
);
