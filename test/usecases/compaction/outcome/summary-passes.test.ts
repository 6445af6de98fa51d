import { describe, expect, test } from 'vitest';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { rewriteBench } from '#test/support/compaction/compaction-dependencies.ts';
import { modelDown } from '#test/support/model-down.ts';

describe('COMPACTED', () => {
  test('a summary line with a number nobody stated is dropped and reported', async () => {
    const wrong = 'The deposit is 7,350 won.';
    const answer = snapshotAnswer(`The user plans a trip.\n${wrong}`);
    const bench = rewriteBench({ model: createScriptedModel({ answers: [answer] }) });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { history, text } = await see(bench.store, conversationId);
    expect(text).toContain('The user plans a trip.');
    expect(text).not.toContain('7,350');
    expect(history?.report).toMatchObject({ droppedLines: [wrong], droppedLineCount: 1 });
    expect(bench.model.calls).toHaveLength(2);
  });

  test('too many invented lines cause one more call, and the better answer wins', async () => {
    const invented = snapshotAnswer('Room 714.\nRoom 715.\nRoom 716.\nRoom 717.');
    const model = createScriptedModel({ answers: [invented, invented, snapshotAnswer()] });
    const bench = rewriteBench({ model });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(JSON.stringify(model.calls[2]?.contents)).toContain('<unsupported>714</unsupported>');
    expect((await see(bench.store, conversationId)).text).not.toContain('Room 71');
  });

  test('the first summary stays when the second call fails', async () => {
    const model = createScriptedModel({ answers: [snapshotAnswer('First pass.'), modelDown()] });
    const bench = rewriteBench({ model });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { conversation, text } = await see(bench.store, conversationId);
    expect(conversation.generation).toBe(1);
    expect(text).toContain('First pass.');
  });

  test('a readable first summary stays when the second answer is blank', async () => {
    const model = createScriptedModel({ answers: [snapshotAnswer('First pass.'), ' '] });
    const bench = rewriteBench({ model });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect((await see(bench.store, conversationId)).text).toContain('First pass.');
  });

  test('both sizes are estimated when the token counter fails', async () => {
    const model = createScriptedModel({
      answers: [snapshotAnswer()],
      count: () => Promise.reject(modelDown()),
    });
    const bench = rewriteBench({ model });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(history?.report['tokensSource']).toBe('estimated');
    expect(history?.afterTokens).toBeLessThan(history?.beforeTokens ?? 0);
  });
});
