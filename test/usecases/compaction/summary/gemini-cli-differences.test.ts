import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { parseConfig } from '#functions/config.ts';
import { brakeOn, spentAfter } from '#shared/compaction/brake.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import { shortenOutput, toToolOutput } from '#shared/compaction/shorten-output.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { estimatePartTokens, estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { sendAll } from '#test/support/chat/sending.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import {
  addTurn,
  buildConversation,
  type ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { writeJob } from '#test/support/compaction/past-compactions.ts';
import { modelDown } from '#test/support/model-down.ts';
import { describe, expect, test } from 'vitest';

/*
 * docs/guides/operating-compaction.md lists what the profile does otherwise than the program: a row a test, by its
 * title (test/reference/gemini-cli-differences.test.ts).
 */

const policy = resolvePolicy({ model: 'gemini-2.5-flash', profile: 'gemini-cli' });

/** A conversation of the profile that is due. */
const build = (bench: CompactionBench, options: Partial<ConversationToBuild> = {}) =>
  buildDue(bench, {
    ...options,
    conversation: {
      profile: 'gemini-cli',
      settings: { thresholdTokens: 1_000 },
      compactionRequests: autoRequest(),
      ...options.conversation,
    },
  });

const answering = (...answers: Parameters<typeof createScriptedModel>[0]['answers']) =>
  compactionBench({ model: createScriptedModel({ answers }) });

/** What a compaction of a usual conversation leaves. */
async function compacted(bench: CompactionBench, options: Partial<ConversationToBuild> = {}) {
  const id = await build(bench, options);
  const result = await compactOnce(bench, id);
  return { id, result, ...(await see(bench.store, id)) };
}

describe('unlike Gemini CLI, the profile gemini-cli', () => {
  test('the gemini-cli profile compacts beside the chat and keeps messages sent meanwhile', async () => {
    const bench = compactionBench();
    const id = await build(bench);
    const late = async () => {
      await addTurn(bench.store, id, { user: 'Late one', answer: 'Answered.' });
      return snapshotAnswer();
    };
    const model = createScriptedModel({ answers: [late, snapshotAnswer()] });

    const result = await compactOnce({ ...bench, model }, id);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect((await see(bench.store, id)).text).toContain('Late one');
  });

  test('the gemini-cli profile keeps the first summary where the second call fails', async () => {
    const { result, text } = await compacted(answering(snapshotAnswer('First pass.'), modelDown()));

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('First pass.');
  });

  test('the gemini-cli profile changes nothing where the first call fails', async () => {
    const { result, conversation, text } = await compacted(answering(modelDown()));

    expect(result).toMatchObject({ kind: 'retry' });
    expect(conversation.generation).toBe(0);
    expect(text).toContain('Question 1:');
  });

  test('the gemini-cli profile accepts only real snapshots and stores no scratchpad', async () => {
    const prose = await compacted(answering('I would rather tell you about myself.'));
    const snapshot = await compacted(answering(snapshotAnswer()));

    expect(prose.conversation.generation).toBe(0);
    expect(snapshot.text).toContain('state_snapshot');
    expect(snapshot.text).not.toContain('scratchpad');
  });

  test('the gemini-cli profile counts the context before and after with the same counter', async () => {
    const overhead = 'word '.repeat(2_000);
    const { history } = await compacted(answering(snapshotAnswer()), {
      conversation: { systemInstruction: overhead },
    });

    expect(history?.beforeTokens).toBeGreaterThan(2_000);
    expect(history?.afterTokens).toBeGreaterThan(2_000);
    expect(history?.afterTokens).toBeLessThan(history?.beforeTokens ?? 0);
  });

  test('the gemini-cli profile estimates other scripts with 1.3 tokens a character', () => {
    expect(estimateTextTokens('한'.repeat(1_000), policy.tokenRule)).toBe(1_300);
    expect(estimateTextTokens('한'.repeat(100_001), policy.tokenRule)).toBe(130_001);
  });

  test('the gemini-cli profile retries an inflated summary after half an hour, or after growth', async () => {
    const grown = (prompt: Prompt) => JSON.stringify(prompt.contents).includes('state_snapshot');
    const count = (prompt: Prompt) => Promise.resolve(grown(prompt) ? 9_000 : 4_000);
    const answers = [snapshotAnswer(), snapshotAnswer()];
    const bench = compactionBench({ model: createScriptedModel({ answers, count }) });
    const { job, tokens } = await compacted(bench);

    const brakes = job?.brake.pause ? [job.brake.pause] : [];
    const closedAt = (minutes: number, growth: number) =>
      !brakeOn(brakes, {
        trigger: 'auto',
        now: new Date(bench.clock.now().getTime() + minutes * 60_000),
        tokens: growth * tokens,
      });
    expect(job?.records).toMatchObject([{ state: 'FAILED_INFLATED_TOKEN_COUNT' }]);
    expect([closedAt(0, 1), closedAt(30, 1), closedAt(0, 1.5)]).toEqual([false, true, true]);
  });

  test('the gemini-cli profile calls no model over the conversation’s spending limit', async () => {
    const bench = compactionBench({
      config: parseConfig({
        GOOGLE_CLOUD_PROJECT: 'demo-recap',
        PUBSUB_EMULATOR_HOST: 'localhost:1',
        COMPACTIONS_PER_HOUR: '1',
      }),
    });
    const id = await build(bench);
    await writeJob(bench.store, id, {
      brake: { failures: 0, spent: spentAfter(undefined, { at: bench.clock.now(), tokens: 1 }) },
    });

    expect(await compactOnce(bench, id)).toMatchObject({ state: 'NOOP', reason: 'SPEND_LIMIT' });
    expect(bench.model.calls).toEqual([]);
  });

  test('the gemini-cli profile folds one summariser call’s worth, and the rest next time', async () => {
    const bench = answering(snapshotAnswer());
    const turns = Array.from({ length: 30 }, () => ({ answer: 'word '.repeat(1_000) }));
    const { conversation, text } = await compacted(bench, {
      turns,
      conversation: { settings: { thresholdTokens: 1_000, windowTokens: 32_000 } },
    });

    expect(conversation.generation).toBe(1);
    expect(conversation.coveredThrough.seq).toBeGreaterThan(5);
    expect(conversation.coveredThrough.seq).toBeLessThan(21);
    expect(text).toContain('Question 30:');
    expect(conversation.compactionRequests.auto).toBeDefined();
  });

  test('the gemini-cli profile cuts a tool output of more than 1,000 lines as well', () => {
    const output = Array.from({ length: 3_000 }, (_, at) => `row ${at}`).join('\n');
    const part = { functionResponse: { id: '1', name: 'list', response: { output } } };

    const shown = shortenOutput(part, {
      blobName: () => 'b'.repeat(64),
      counting: { rule: policy.tokenRule },
    });

    expect(toToolOutput(shown)?.text.split('\n')).toHaveLength(1_001);
  });

  test('the gemini-cli profile fits all tool outputs together into 50,000 tokens', async () => {
    const bench = compactionBench();
    const output = 'row of a list '.repeat(2_000);
    const turns = Array.from({ length: 40 }, (_, at) => ({
      answer: [
        { role: 'model' as const, parts: [{ functionCall: { id: `${at}`, name: 'list' } }] },
        {
          role: 'user' as const,
          parts: [{ functionResponse: { id: `${at}`, name: 'list', response: { output } } }],
        },
        { role: 'model' as const, parts: [{ text: 'Done.' }] },
      ],
    }));
    const id = await build(bench, { turns });
    await writeJob(bench.store, id, {
      brake: {
        failures: 1,
        pause: { reason: 'BREAKER_OPEN', until: new Date(bench.clock.now().getTime() + 60_000) },
      },
    });

    const result = await compactOnce(bench, id);

    const { items } = await see(bench.store, id);
    const outputs = items
      .flatMap(({ content }) => content.parts)
      .filter(({ functionResponse }) => functionResponse !== undefined);
    const tokens = outputs.map((part) => estimatePartTokens(part, { rule: policy.tokenRule }));
    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED' });
    expect(outputs).toHaveLength(40);
    expect(tokens.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(50_000);
  });

  test('the gemini-cli profile answers over the hard threshold from a shortened view', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Here.'));
    const chat = chatDependencies({ model });
    const { conversationId } = await buildConversation(chat.store, {
      turns: 20,
      conversation: { ownerUid: 'u1', profile: 'gemini-cli', settings: { thresholdTokens: 1_000 } },
    });

    await sendAll(chat, conversationId, ['And now?']);

    expect(JSON.stringify(requests[0]?.contents)).toContain('left out of this request');
    expect(policy.hardThresholdTokens).toBe(Math.floor(0.8 * policy.windowTokens));
  });

  test('the gemini-cli profile supports a threshold in tokens', () => {
    const thresholdTokens = 24_000;
    const input = { model: 'gemini-2.5-flash', profile: 'gemini-cli' };

    expect(policy.softThresholdTokens).toBe(0.5 * policy.windowTokens);
    expect(resolvePolicy({ ...input, environment: { thresholdTokens } }).softThresholdTokens).toBe(
      thresholdTokens,
    );
  });

  test('the gemini-cli profile keeps pins word for word outside of the summary', async () => {
    const pin = { id: 'p', text: 'The gate code is 4711#.', source: 'api' } as const;
    const bench = answering(snapshotAnswer());
    const { text } = await compacted(bench, { conversation: { pins: [pin] } });

    expect(text).toContain(pin.text);
    expect(JSON.stringify(bench.model.calls)).not.toContain(pin.text);
  });

  test('the gemini-cli profile keeps the whole conversation and can restore it', async () => {
    const bench = answering(snapshotAnswer());
    const { id, text } = await compacted(bench);
    const request = { caller: { uid: 'u1', tier: 'signedIn' }, conversationId: id } as const;

    await restoreGeneration(chatDependencies({ store: bench.store }), {
      ...request,
      generation: 0,
      requestId: 'back',
      locale: undefined,
    });

    expect(text).not.toContain('Question 1:');
    expect((await see(bench.store, id)).text).toContain('Question 1:');
  });

  test('the gemini-cli profile passes a user’s focus to the summariser', async () => {
    const bench = answering(snapshotAnswer());
    await compacted(bench, {
      conversation: { compactionRequests: manualRequest('request-m', 'the budget') },
    });

    expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('<focus>the budget</focus>');
  });

  test('the gemini-cli profile fires PreCompact with compactions alone', async () => {
    const { model } = scriptedStreamer(textAnswer('Fine.'));
    const chat = chatDependencies({ model });
    const { conversationId } = await buildConversation(chat.store, {
      turns: 1,
      conversation: { ownerUid: 'u1', profile: 'gemini-cli' },
    });

    await sendAll(chat, conversationId, ['How are you?']);

    expect(chat.published).toEqual([]);
  });
});
