import { describe, expect, test } from 'vitest';
import type { Item } from '#shared/conversation/documents/snapshot.ts';
import { CANARY, dyingAt, lifecycle, removeMessage } from '#test/support/chat/lifecycle.ts';
import { compactedTwice } from '#test/support/compaction/known-items.ts';
import { recall } from '#test/support/compaction/recalling.ts';
import { rewriteHistory } from '#test/support/stored-histories.ts';

type Topic = [title: string, from: number, through: number, day: string];

const topicItem = ([text, from, through, at]: Topic, index: number): Item => ({
  id: `t${index}`,
  text,
  sources: [from],
  through,
  at,
  importance: 2,
  by: 'model',
});

const trip: Topic[] = [
  ['flight to Lisbon booked', 1, 2, '2026-02-27'],
  ['secret word chosen', 3, 5, '2026-03-04'],
  ['hotel in Lisbon compared', 6, 8, '2026-03-09'],
  ['pottery class, first bowl', 9, 14, '2026-04-01'],
];

/** A compacted conversation with this timeline, of which the first lines have left for the archive. */
async function conversationWith(topics: readonly Topic[], archived = 2) {
  const world = lifecycle();
  const conversationId = await compactedTwice(world, [['The user likes trams.', 1]]);
  const items = topics.map(topicItem);
  for (const generation of [1, 2])
    await rewriteHistory(
      world.store,
      { conversationId, generation },
      {
        snapshot: {
          schemaVersion: 1,
          profile: 'assistant',
          sections: { timeline: items.slice(archived) },
          archive: items.slice(0, archived).map((item) => ({ ...item, section: 'timeline' })),
          nextId: items.length + 1,
        },
      },
    );
  return { world, conversationId };
}

describe('the topics of recall_history', () => {
  test('a query that names a month gets the topics of that month, archived ones too, in order', async () => {
    const { world, conversationId } = await conversationWith(trip);

    const { topics } = await recall(world.chat, conversationId, {
      query: 'What did we talk about in March 2026?',
    });

    expect(topics).toEqual([
      { title: 'secret word chosen', from: 3, through: 5, day: '2026-03-04' },
      { title: 'hotel in Lisbon compared', from: 6, through: 8, day: '2026-03-09' },
    ]);
  });

  test('a query without a time gets the topics that share a word with it', async () => {
    const { world, conversationId } = await conversationWith(trip);

    const { topics } = await recall(world.chat, conversationId, { query: 'hotel Lisbon' });

    expect(topics).toMatchObject([{ from: 1 }, { from: 6 }]);
  });

  test('a query gets the newest twenty of its topics', async () => {
    const many = Array.from({ length: 25 }, (_, i): Topic => [
      `walk ${i}`,
      i + 1,
      i + 1,
      '2026-03-04',
    ]);
    const { world, conversationId } = await conversationWith(many);

    const { topics } = await recall(world.chat, conversationId, { query: 'walk' });

    expect(topics).toHaveLength(20);
    expect(topics).toMatchObject([{ from: 6 }, ...Array.from({ length: 19 }, () => ({}))]);
  });

  test('a search before a turn gets no topic that begins there or later', async () => {
    const { world, conversationId } = await conversationWith(trip);

    const { topics } = await recall(world.chat, conversationId, { query: 'Lisbon', before: 6 });

    expect(topics).toMatchObject([{ from: 1 }]);
  });

  test.each(['while it is being erased', 'afterwards'])(
    'no topic of an erased turn comes %s, wherever in the topic the turn stands',
    async (when) => {
      const { world, conversationId } = await conversationWith(trip);
      const chat =
        when === 'afterwards' ? world.chat : { ...world.chat, ...dyingAt('message-wiped') };
      await removeMessage({ chat }, conversationId, 'message-7').catch(() => undefined);

      const { topics } = await recall(world.chat, conversationId, { query: 'hotel Lisbon secret' });

      expect(JSON.stringify(topics)).not.toContain('hotel');
      expect(JSON.stringify(topics)).not.toContain(CANARY);
    },
  );
});
