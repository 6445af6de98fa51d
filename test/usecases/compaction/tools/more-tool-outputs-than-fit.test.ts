import { describe, expect, test } from 'vitest';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { blobsNamedBy } from '#shared/conversation/writes/erased-history.ts';
import { blobPiecePath } from '#shared/conversation/documents/paths.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { openBreaker, toolTurn } from '#test/support/tools/tool-conversation.ts';

describe('more tool outputs than markers have room for', () => {
  const page = (seq: number) => `page ${seq}: ${'plain words of a page '.repeat(90)}`;

  /** A thousand turns with an output each, shortened without a model to a budget of 50,000 tokens. */
  async function shortened() {
    const bench = compactionBench();
    const turns = Array.from({ length: 1_000 }, (_, index) => toolTurn(index + 1, page(index + 1)));
    const conversation = { settings: { thresholdTokens: 300_000 } };
    const conversationId = await buildDue(bench, { turns, conversation });
    await openBreaker(bench, conversationId);
    const result = await compactOnce(bench, conversationId);
    return { bench, conversationId, result, seen: await see(bench.store, conversationId) };
  }

  test('more tool outputs than markers fit the budget, the newest whole', async () => {
    const { result, seen } = await shortened();

    const parts = seen.items.flatMap(({ content }) => content.parts);
    const outputs = parts.filter(({ functionResponse }) => functionResponse);
    const tokens = outputs.map((part) => estimatePartTokens(part, 'character-class'));
    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED' });
    expect(outputs).toHaveLength(1_000);
    expect(parts.filter(({ functionCall }) => functionCall)).toHaveLength(1_000);
    expect(tokens.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(50_000);
    expect(outputs[0]?.functionResponse?.response).toEqual({ omitted: true });
    expect(outputs.at(-1)?.functionResponse?.response).toEqual({ output: page(1_000) });
  });

  test('tool outputs are stored exactly where something names them', async () => {
    const { bench, conversationId, seen } = await shortened();

    const stored = async (seq: number) => {
      const sha256 = bench.sha256(page(seq));
      const path = blobPiecePath(conversationId, { sha256, index: 0 });
      const [blob] = await bench.store.get([path]);
      return { isStored: blob !== undefined, isNamed: seen.text.includes(sha256) };
    };
    expect(await stored(1)).toEqual({ isStored: false, isNamed: false });
    const named = blobsNamedBy({ masks: seen.history?.masks ?? [] });
    const [oldest] = named.toSorted((a, b) => a.seq - b.seq);
    expect(await stored(oldest?.seq ?? 0)).toEqual({ isStored: true, isNamed: true });
    expect(await stored((oldest?.seq ?? 0) - 1)).toEqual({ isStored: false, isNamed: false });
  });
});
