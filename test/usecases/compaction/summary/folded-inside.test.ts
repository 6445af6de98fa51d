import { describe, expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { modelText } from '#test/support/compaction/conversation-builder.ts';

/** One prompt and a loop of tools, as an agent runs. */
const agentRun = (calls: number): Content[] => [
  ...Array.from({ length: calls }, (_, page): Content[] => [
    { role: 'model', parts: [{ functionCall: { name: 'list', args: { page } } }] },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            name: 'list',
            response: {
              output: `page ${page}: ${'all the rooms here are fine and quiet, '.repeat(10)}`,
            },
          },
        },
      ],
    },
  ]).flat(),
  modelText('All pages are read.'),
];

const buildRun = (bench: ReturnType<typeof compactionBench>) =>
  buildDue(bench, {
    turns: [{ user: 'Read all the pages of the list.', answer: agentRun(40) }],
    conversation: { settings: { thresholdTokens: 2_000 } },
  });

describe('a single turn of many tool calls', () => {
  test('a single turn of many tool calls is folded inside, keeping message and newest steps', async () => {
    const bench = compactionBench();
    const conversationId = await buildRun(bench);

    const result = await compactOnce(bench, conversationId);

    const { conversation, items, text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(conversation.coveredThrough.seq).toBe(1);
    expect(conversation.coveredThrough.contentIndex).toBeGreaterThan(0);
    expect(items.map(({ kind }) => kind).slice(0, 3)).toEqual(['snapshot', 'ack', 'turn']);
    expect(items[2]?.content.parts[0]?.text).toBe('Read all the pages of the list.');
    expect(text).toContain('All pages are read.');
    expect(text).not.toContain('page 0: all');
  });

  test('a partly folded turn counts as its remaining part', async () => {
    const bench = compactionBench();
    const conversationId = await buildRun(bench);
    const before = await see(bench.store, conversationId);

    await compactOnce(bench, conversationId);

    const after = await see(bench.store, conversationId);
    expect(after.tokens).toBeLessThan(before.tokens / 2);
    expect(after.tokens).toBeLessThan(2_000);
  });
});
