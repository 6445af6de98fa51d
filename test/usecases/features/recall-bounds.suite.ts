import { describe, expect, test } from 'vitest';
import { RECALL_TURNS } from '#functions/chat/turns/tools/recall-history.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { conversationOf, filler, recall } from '#test/support/compaction/recalling.ts';

/** A conversation of `turns`, and the turns that are read of it. */
async function readingOf(turns: Parameters<typeof conversationOf>[0]) {
  const { dependencies, conversationId } = await conversationOf(turns);
  const read: string[] = [];
  const get = (paths: readonly string[]) => {
    read.push(...paths.filter((path) => path.includes('/turns/')));
    return dependencies.store.get(paths);
  };
  return {
    dependencies: { ...dependencies, store: { ...dependencies.store, get } },
    conversationId,
    read,
  };
}

/** How far back the tool looks, and how often it reads. */
export const boundsOfRecall = () =>
  describe('the bounds of recall_history', () => {
    test('recall_history continues before a given turn', async () => {
      const { dependencies, conversationId } = await conversationOf([
        { user: 'the boat, first', answer: 'x' },
        ...filler(2),
        { user: 'the boat, second', answer: 'x' },
      ]);

      const { hits } = await recall(dependencies, conversationId, { query: 'boat', before: 4 });

      expect(hits.map(({ seq }) => seq)).not.toContain(4);
      expect(hits[0]?.seq).toBe(1);
    });

    test('recall_history reads a turn once and finds it again from memory', async () => {
      const { dependencies, conversationId, read } = await readingOf(filler(200));
      await recall(dependencies, conversationId, { query: 'filler' });
      const first = read.length;

      await recall(dependencies, conversationId, { query: 'nothing' });

      expect(first).toBe(200);
      expect(read).toHaveLength(200);
    });

    test('recall_history searches a bounded number of turns and says how to continue', async () => {
      const { dependencies, conversationId, read } = await readingOf([
        { user: 'the oldest boat', answer: 'x' },
        ...filler(1),
      ]);

      const { hits, searched, note } = await recall(dependencies, conversationId, {
        query: 'oldest boat',
        seq: RECALL_TURNS + 2,
      });

      expect(read).toHaveLength(RECALL_TURNS);
      expect(searched).toMatchObject({ turns: RECALL_TURNS, oldestSeq: 2, isWhole: false });
      expect(hits.map(({ seq }) => seq)).not.toContain(1);
      expect(note).toContain('"before": 2');
      const [oldest] = await dependencies.store.get([turnPath(conversationId, 1)]);
      expect(oldest).toBeDefined();
    });

    test('recall_history ends when the turn is stopped', async () => {
      const { dependencies, conversationId } = await conversationOf(filler(2));

      const asked = recall(dependencies, conversationId, {
        query: 'filler',
        signal: AbortSignal.abort(new Error('stopped')),
      });

      await expect(asked).rejects.toThrow('stopped');
    });
  });
