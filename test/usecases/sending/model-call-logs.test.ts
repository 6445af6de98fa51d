import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { LogFields } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  scriptedStreamer,
  textAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildDue, compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  geminiCliBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { overloaded } from '#test/support/model-down.ts';
import { sendAll } from '#test/support/chat/sending.ts';

/** The lines of the calls that a message makes whose title is asked for as well. */
async function callsOfMessage(...answers: ScriptedAnswer[]) {
  const calls: LogFields[] = [];
  const log = (_: string, event: string, fields: LogFields) => {
    if (event === 'model_call') calls.push(fields);
  };
  const { model } = scriptedStreamer(...answers);
  const chat = chatDependencies({ model, logger: { log } }, { TITLES: 'on' });
  const conversationId = randomUUID();
  await Promise.allSettled([sendAll(chat, conversationId, ['How are you?'])]);
  await Promise.all(chat.afterwork);
  return { conversationId, calls };
}

describe('the log line of a call of the model', () => {
  test('a model call’s log line says who called, which call, and its usage: an answer', async () => {
    const { conversationId, calls } = await callsOfMessage(textAnswer('Fine.'));

    expect(calls[0]).toMatchObject({
      conversationId,
      role: 'chat',
      promptId: 't_1',
      finishReason: 'STOP',
      promptTokens: expect.any(Number),
      durationMs: expect.any(Number),
    });
    expect(JSON.stringify(calls)).not.toContain('Fine');
  });

  test('a model call’s log line names the role of an auxiliary call: a title', async () => {
    const { conversationId, calls } = await callsOfMessage(textAnswer('Fine. '.repeat(50)));

    expect(calls.slice(1)).toMatchObject([
      { conversationId, role: 'utility_title', promptId: 't_1-title' },
    ]);
  });

  test('a model call’s log line says why there is no answer', async () => {
    const { calls } = await callsOfMessage({ error: overloaded() });

    expect(calls[0]).toMatchObject({ role: 'chat', reason: 'MODEL_OVERLOADED' });
  });

  test.each([
    ['ledger', compactionBench, /^ledger-\d+$/, ['request-1']],
    ['gemini-cli', geminiCliBench, /^gemini-cli-\d+$/, ['request-1', 'request-1-verify']],
  ] as const)(
    'a model call’s log line names the prompt version of %s',
    async (...[, benchOf, version, promptIds]) => {
      const bench = benchOf();
      const conversationId = await buildDue(bench);

      await compactOnce(bench, conversationId);

      const lines = bench.logged.filter(({ event }) => event === 'model_call');
      expect(lines.map(({ fields }) => fields['promptId'])).toEqual(promptIds);
      expect(lines[0]?.fields).toMatchObject({
        conversationId,
        role: 'utility_compressor',
        promptVersion: expect.stringMatching(version),
        promptTokens: 100,
      });
    },
  );

  test('a model call’s log line says why a summariser gave no answer', async () => {
    const model = createScriptedModel({ answers: [overloaded(), snapshotAnswer()] });
    const bench = compactionBench({ model });

    await compactOnce(bench, await buildDue(bench));

    expect(bench.logged.filter(({ event }) => event === 'model_call')).toMatchObject([
      { fields: { promptId: 'request-1', reason: 'MODEL_OVERLOADED' } },
    ]);
  });
});
