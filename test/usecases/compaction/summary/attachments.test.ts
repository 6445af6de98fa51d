import { expect, test } from 'vitest';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

const receipt: Part = { inlineData: { mimeType: 'image/png', data: 'cmVjZWlwdA==' } };
const sent: Content = { role: 'user', parts: [{ text: 'My receipt' }, receipt] };

test('a picture in a folded turn is shown to the summariser and named by its turn', async () => {
  const model = createScriptedModel({ answers: [snapshotAnswer()] });
  const bench = compactionBench({ model });
  const conversationId = await buildDue(bench, {
    turns: [{ user: sent }, ...Array.from({ length: 19 }, () => ({}))],
  });

  const result = await compactOnce(bench, conversationId);

  const parts = model.calls[0]?.contents.flatMap((content) => content.parts) ?? [];
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(parts).toContainEqual(receipt);
  expect(parts[0]?.text).toContain('user attachment 1: image/png');
});
