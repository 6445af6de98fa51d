import { withFiles } from '#functions/adapters/gemini/gemini-files.ts';
import type { Content, Part } from '#shared/models/content.ts';
import { mediaPart } from '#shared/uploads/upload-parts.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  buildDue,
  compactOnce,
  overflowRequest,
  see,
  type CompactionBench,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  type ConversationToBuild,
  modelText,
} from '#test/support/compaction/conversation-builder.ts';
import { call, response } from '#test/support/tools/tool-conversation.ts';
import { describe, expect, test } from 'vitest';

async function compacted(
  options: Partial<ConversationToBuild> = {},
  overrides: Partial<CompactionBench> = {},
) {
  const bench = compactionBench(overrides);
  const conversationId = await buildDue(bench, options);
  const before = await see(bench.store, conversationId);
  const result = await compactOnce(bench, conversationId);
  return { bench, conversationId, before, result, ...(await see(bench.store, conversationId)) };
}

test('a compaction replaces the oldest turns by a snapshot and keeps the newest verbatim', async () => {
  const { result, conversation, items, text } = await compacted();

  expect(result).toEqual({ kind: 'done', state: 'COMPACTED', reason: undefined });
  expect(conversation.generation).toBe(1);
  expect(conversation.coveredThrough.seq).toBeGreaterThan(10);
  expect(items.slice(0, 2).map(({ kind }) => kind)).toEqual(['snapshot', 'ack']);
  expect(items[2]?.seq).toBe(conversation.coveredThrough.seq + 1);
  expect(text).toContain('trip to Busan');
  expect(text).toContain('Question 20:');
  expect(text).not.toContain('Question 1:');
});

test('a compaction silently folds failed turns, which were never in the context', async () => {
  const turns = Array.from({ length: 20 }, (_, index) =>
    index === 2 ? { user: 'A question that failed.', state: 'failed' as const } : {},
  );
  const { bench, conversation } = await compacted({ turns });

  expect(conversation.coveredThrough.seq).toBeGreaterThan(3);
  expect(JSON.stringify(bench.model.calls[0]?.contents)).not.toContain('that failed');
});

describe('a conversation that one turn fills', () => {
  const filled = {
    turns: [{ answer: 'word '.repeat(5_000) }],
    conversation: { settings: { windowTokens: 12_000 }, compactionRequests: overflowRequest() },
  };

  test('a conversation filled by its newest turn is usable after an overflow compaction', async () => {
    const { result, before, conversation, items, tokens } = await compacted(filled);

    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(conversation.coveredThrough.seq).toBe(1);
    expect(items.map(({ kind }) => kind)).toEqual(['snapshot', 'ack']);
    expect(tokens).toBeLessThan(before.tokens / 2);
  });

  test('a turn no summariser window holds is recorded as too large, without a breaker', async () => {
    const { bench, result, conversation, job } = await compacted({
      turns: [{ answer: 'word '.repeat(8_000) }],
      conversation: { ...filled.conversation, settings: { windowTokens: 8_000 } },
    });

    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR', reason: 'TURN_TOO_LARGE' });
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: {} });
    expect(bench.model.calls).toEqual([]);
    expect(job?.brake.failures).toBe(0);
  });

  test('a single turn of many tool calls is folded inside, keeping message and newest steps', async () => {
    const steps = Array.from({ length: 40 }, (_, page) => [
      call('list', { page }),
      response('list', `page ${page}: ${'all the rooms here are fine and quiet, '.repeat(10)}`),
    ]);
    const answer = [...steps.flat(), modelText('All pages are read.')];

    const { before, conversation, items, text, tokens } = await compacted({
      turns: [{ user: 'Read all the pages of the list.', answer }],
      conversation: { settings: { thresholdTokens: 2_000 } },
    });

    expect(conversation.coveredThrough.seq).toBe(1);
    expect(conversation.coveredThrough.contentIndex).toBeGreaterThan(0);
    expect(items.map(({ kind }) => kind).slice(0, 3)).toEqual(['snapshot', 'ack', 'turn']);
    expect(items[2]?.content.parts[0]?.text).toBe('Read all the pages of the list.');
    expect(text).toContain('All pages are read.');
    expect(text).not.toContain('page 0: all');
    expect(tokens).toBeLessThan(before.tokens / 2);
  });
});

describe('a picture in a folded turn', () => {
  const others = Array.from({ length: 19 }, () => ({}));
  const messageWith = (part: Part): Content => ({
    role: 'user',
    parts: [{ text: 'My receipt' }, part],
  });

  const bytes = Buffer.from('receipt');
  const path = 'users/u1/uploads/receipt';
  const upload = { id: 'receipt', path, mimeType: 'image/png', sizeBytes: bytes.length };
  const mimeType = 'image/png';
  const gone = { text: '[attached file (image/png): it has been deleted]' };

  test.each<[string, { isThere: boolean; modelReadsBucket: boolean; shown: Part }]>([
    [
      'with its bytes',
      {
        isThere: true,
        modelReadsBucket: false,
        shown: { inlineData: { mimeType, data: bytes.toString('base64') } },
      },
    ],
    [
      'by its address, where the model reads the bucket',
      {
        isThere: true,
        modelReadsBucket: true,
        shown: { fileData: { mimeType, fileUri: `gs://memory/${path}` } },
      },
    ],
    ['in words, when it is missing', { isThere: false, modelReadsBucket: false, shown: gone }],
    ['in words, when the bucket lacks it', { isThere: false, modelReadsBucket: true, shown: gone }],
  ])('an uploaded picture in a folded turn is shown %s', async (...row) => {
    const [, { isThere, modelReadsBucket, shown }] = row;
    const files = createMemoryBucket();
    if (isThere) await files.put(await files.signUpload(upload), bytes);
    const scripted = createScriptedModel({ answers: [snapshotAnswer()] });
    const stream = () => {
      throw new Error('a worker does not stream');
    };
    const resolving = withFiles({ ...scripted, stream }, { files, modelReadsBucket });
    const model = Object.assign(Object.create(scripted), resolving);

    const { result } = await compacted(
      { turns: [{ user: messageWith(mediaPart(upload)) }, ...others] },
      { files, model },
    );

    expect(result).toMatchObject({ state: 'COMPACTED' });
    const parts = scripted.calls.flatMap(({ contents }) => contents).flatMap((each) => each.parts);
    expect(parts[0]?.text).toContain('My receipt');
    expect(parts).toContainEqual(shown);
  });
});
