import { expect, test } from 'vitest';
import { countReplay } from './count-replay.ts';
import { madeUpDialogue } from './made-up-dialogue.ts';

const model = 'gemini-2.5-flash';

test('a replay counts what turns and compactions take', async () => {
  const turns = madeUpDialogue(24, { messageTokens: 60, answerTokens: 300 });

  const counted = await countReplay(turns, { model, thresholdTokens: 6_000 });

  expect(counted.compactions).toBeGreaterThanOrEqual(1);
  expect(counted.turn.reads).toBeGreaterThanOrEqual(3);
  expect(counted.turn.writes).toBeGreaterThanOrEqual(6);
  expect(counted.compaction.calls).toBeGreaterThanOrEqual(1);
  expect(counted.compaction.messages).toBeGreaterThanOrEqual(2);
  expect(counted.compaction.instructionTokens).toBeGreaterThan(500);
}, 30_000);

test('a replay that is too short for a compaction says so', async () => {
  const turns = madeUpDialogue(1, { messageTokens: 60, answerTokens: 60 });

  await expect(countReplay(turns, { model, thresholdTokens: 6_000 })).rejects.toThrow(
    'reach no threshold of 6000',
  );
});
