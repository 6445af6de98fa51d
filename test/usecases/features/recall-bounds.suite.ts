import { describe, expect, test } from 'vitest';
import { RECALL_TURNS } from '#functions/chat/turns/tools/recall-history.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { conversationOf, filler, recall } from '#test/support/compaction/recalling.ts';

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
      const { dependencies, conversationId } = await conversationOf(filler(200));
      let turnReads = 0;
      const store = {
        ...dependencies.store,
        get: (paths: readonly string[]) => {
          turnReads += paths.filter((path) => path.includes('/turns/')).length;
          return dependencies.store.get(paths);
        },
      };
      const counting = { ...dependencies, store };
      await recall(counting, conversationId, { query: 'filler' });
      const first = turnReads;

      await recall(counting, conversationId, { query: 'nothing' });

      expect(first).toBe(200);
      expect(turnReads).toBe(200);
    });

    test('recall_history searches a bounded number of turns and says how to continue', async () => {
      const { dependencies, conversationId } = await conversationOf([
        { user: 'the oldest boat', answer: 'x' },
        ...filler(1),
      ]);
      const last = RECALL_TURNS + 1;
      const [oldest] = await dependencies.store.get([turnPath(conversationId, 1)]);
      const read: string[] = [];
      const store = {
        ...dependencies.store,
        get: (paths: readonly string[]) => {
          read.push(...paths.filter((path) => path.includes('/turns/')));
          return dependencies.store.get(paths);
        },
      };

      const { hits, searched, note } = await recall({ ...dependencies, store }, conversationId, {
        query: 'oldest boat',
        seq: last + 1,
      });

      expect(oldest).toBeDefined();
      expect(read).toHaveLength(RECALL_TURNS);
      expect(searched).toMatchObject({ turns: RECALL_TURNS, oldestSeq: 2, isWhole: false });
      expect(hits.map(({ seq }) => seq)).not.toContain(1);
      expect(note).toContain('"before": 2');
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
