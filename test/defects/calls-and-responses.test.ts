import { describe, expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import { snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { brokenPairs } from '../support/tools/broken-pairs.ts';
import { buildDue, compactOnce, see } from '../support/compaction/compacted-conversation.ts';
import { worldWith } from '../support/compaction/compacting-world.ts';
import { modelText, type TurnToBuild } from '../support/compaction/conversation-builder.ts';
import { request, sendAll } from '../support/chat/sending.ts';

/** A step that calls two tools at once. */
const step = (page: number): Content[] => [
  {
    role: 'model',
    parts: ['list', 'count'].map((name) => ({
      functionCall: { id: `${name}-${page}`, name, args: { page } },
    })),
  },
  {
    role: 'user',
    parts: ['list', 'count'].map((name) => ({
      functionResponse: {
        id: `${name}-${page}`,
        name,
        response: { output: `${name} ${page}: ${'all the rooms here are quiet, '.repeat(10)}` },
      },
    })),
  },
];

const steps = (count: number) => Array.from({ length: count }, (_, page) => step(page)).flat();
const pendingCall: Content = {
  role: 'model',
  parts: [{ functionCall: { id: 'open', name: 'list', args: { page: 99 } } }],
};

describe('D22: pending calls folded, and pairs broken', () => {
  const pagesRead: TurnToBuild = {
    user: 'Read all the pages.',
    answer: [...steps(30), modelText('All pages are read.')],
  };
  const cases: [string, TurnToBuild[]][] = [
    ['one turn of thirty steps', [pagesRead]],
    ['a turn of thirty steps between others', [{}, {}, pagesRead, {}, {}]],
    [
      'a turn that was stopped while its call was pending',
      [
        ...Array.from({ length: 12 }, () => ({})),
        { answer: [...steps(3), pendingCall], state: 'cancelled' as const },
      ],
    ],
  ];

  test.each(cases)(
    'D22: after a compaction of %s every sent call has its response and every response its call',
    async (_, turns) => {
      const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
      const world = worldWith('ledger', [snapshotAnswer()], { model });
      const conversationId = await buildDue(world, { turns });

      const result = await compactOnce(world.bench, conversationId);
      await sendAll(world.chat, conversationId, ['And now?']);

      const contents = requests[0]?.contents ?? [];
      expect(result).toMatchObject({ state: 'COMPACTED' });
      expect(contents.at(-1)).toMatchObject({ role: 'user', parts: [{ text: 'And now?' }] });
      expect(brokenPairs(contents)).toEqual([]);
    },
  );

  test('D22: a turn that is being answered is not folded and follows the snapshot whole', async () => {
    const gate = Promise.withResolvers<void>();
    const { model } = scriptedStreamer({
      ...textAnswer('It is the third door.'),
      gate: gate.promise,
    });
    const world = worldWith('ledger', [snapshotAnswer()], { model, clock: systemClock });
    const conversationId = await buildDue(world, {
      conversation: { settings: { thresholdTokens: 2_000 } },
    });
    const handle = await sendMessage(world.chat, request(conversationId, 'Which door is it?'));

    const result = await compactOnce(world.bench, conversationId);
    gate.resolve();
    await handle.result;

    const { conversation, items } = await see(world.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(conversation.coveredThrough.seq).toBeLessThan(21);
    expect(items.slice(-2).map(({ content }) => contentText(content))).toEqual([
      'Which door is it?',
      'It is the third door.',
    ]);
  });
});
