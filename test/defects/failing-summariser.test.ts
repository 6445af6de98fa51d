import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { benchWith, needAgain, strategies, worldWith } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { snapshotAnswer, type ScriptedAnswer } from '../fakes/scripted-model.ts';
import { modelDown } from '../support/model-down.ts';
import { describe, expect, test } from 'vitest';

const allergy = 'I am allergic to penicillin, and my membership number is KX-48213.';
const turns = [{ user: allergy }, ...Array.from({ length: 19 }, () => ({}))];

describe('D4: a failing summary thrown into the user’s turn', () => {
  test.each(strategies)(
    'D4: a message sent while the %s summariser answers 503 is answered with the whole context',
    async (strategy) => {
      const { model, requests } = scriptedStreamer(textAnswer('Sit by the window.'));
      const answered: string[] = [];
      let conversationId = '';
      const failing = async () => {
        const handle = await sendMessage(world.chat, request(conversationId, 'Where to sit?'));
        answered.push((await handle.result).turn.state);
        throw modelDown();
      };
      const world = worldWith(strategy, [failing, modelDown()], { model });
      conversationId = await buildDue(world, {
        turns,
        conversation: { settings: { thresholdTokens: 2_000 } },
      });

      const result = await compactOnce(world.bench, conversationId);

      expect(result).toMatchObject({ kind: 'retry', reason: 'MODEL_OVERLOADED' });
      expect(answered).toEqual(['done']);
      expect(requests[0]?.contents.map(contentText)).toContain(allergy);
      expect(requests[0]?.contents).toHaveLength(2 * 20 + 1);
    },
  );

  test('D4: a 503 in the second pass keeps a good first summary', async () => {
    const bench = benchWith('gemini-cli', [snapshotAnswer('The first pass is good.'), modelDown()]);
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect((await see(bench.store, conversationId)).text).toContain('The first pass is good.');
  });
});

const prose = 'The user plans a trip and eats no meat. They talked about harbours and markets.';

/** A good answer of each strategy whose notes hold a word that is nowhere else. */
const withNotes = {
  'gemini-cli': snapshotAnswer().replace('The user asks', 'QUIBBLE-NOTE the user asks'),
  ledger: JSON.stringify({
    scratchpad: 'QUIBBLE-NOTE the user asks',
    operations: [
      {
        op: 'add',
        section: 'key_knowledge',
        text: 'The user plans a trip along the coast and asks what is worth a visit.',
        sources: [1],
      },
    ],
  }),
};

describe('D5: any prose as memory, with its scratchpad', () => {
  test.each(strategies)(
    'D5: prose of the %s summariser is not stored as a snapshot',
    async (strategy) => {
      const bench = benchWith(strategy, [prose]);
      const conversationId = await buildDue(bench);
      const before = await see(bench.store, conversationId);

      const result = await compactOnce(bench, conversationId);

      const after = await see(bench.store, conversationId);
      expect(result.kind).toBe('retry');
      expect(after.items).toEqual(before.items);
      expect(after.text).not.toContain('They talked about harbours');
    },
  );

  test.each(strategies)(
    'D5: the scratchpad of the %s summariser is not stored',
    async (strategy) => {
      const world = worldWith(strategy, [withNotes[strategy]]);
      const conversationId = await buildDue(world);

      const result = await compactOnce(world.bench, conversationId);

      expect(result).toMatchObject({ state: 'COMPACTED' });
      expect(JSON.stringify(await world.documents())).not.toContain('QUIBBLE-NOTE');
    },
  );
});

const answer = (fields: { text?: string; finishReason?: string; blockReason?: string }) => () =>
  Promise.resolve({
    parts: fields.text === undefined ? [] : [{ text: fields.text }],
    ...(fields.finishReason !== undefined && { finishReason: fields.finishReason }),
    ...(fields.blockReason !== undefined && { blockReason: fields.blockReason }),
  });

const failures: { what: string; fails: ScriptedAnswer }[] = [
  { what: 'a 503', fails: modelDown() },
  { what: 'a safety block', fails: answer({ blockReason: 'SAFETY' }) },
  {
    what: 'a good answer cut at its bound',
    fails: answer({ text: snapshotAnswer(), finishReason: 'MAX_TOKENS' }),
  },
  { what: 'nothing', fails: answer({ finishReason: 'STOP' }) },
  { what: 'an empty state', fails: '<state_snapshot></state_snapshot>' },
];

const cases = strategies.flatMap((strategy) => failures.map((each) => ({ strategy, ...each })));

describe('D10: turns lost to a model error', () => {
  test.each(cases)(
    'D10: $what of the $strategy summariser loses no turn, and the retry reads them all',
    async ({ strategy, fails }) => {
      const failing = worldWith(strategy, [fails]);
      const conversationId = await buildDue(failing, { turns });
      const before = await see(failing.store, conversationId);

      await compactOnce(failing.bench, conversationId);

      const after = await see(failing.store, conversationId);
      expect(after.conversation.generation).toBe(0);
      expect(after.items).toEqual(before.items);
      failing.bench.clock.advance(60 * 60_000);
      await needAgain(failing, conversationId, 'request-2');
      const good = benchWith(strategy, [snapshotAnswer()], {
        store: failing.store,
        clock: failing.bench.clock,
      });
      expect(await compactOnce(good, conversationId)).toMatchObject({ state: 'COMPACTED' });
      expect(JSON.stringify(good.model.calls[0]?.contents)).toContain('allergic to penicillin');
    },
  );
});

const errorTexts = ['Error generating summary: 503 Service Unavailable', 'Error: overloaded'];
const errorCases = strategies.flatMap((strategy) =>
  errorTexts.map((text) => [strategy, text] as const),
);

describe('D15: the history deleted, and an error stored as the memory', () => {
  test.each(errorCases)(
    'D15: the %s summariser that answers %j deletes nothing and is not stored',
    async (strategy, text) => {
      const world = worldWith(strategy, [text]);
      const conversationId = await buildDue(world, { turns });
      const before = await see(world.store, conversationId);

      await compactOnce(world.bench, conversationId);

      const after = await see(world.store, conversationId);
      expect(after.conversation).toMatchObject({ generation: 0, coveredThrough: { seq: 0 } });
      expect(after.items).toEqual(before.items);
      expect(JSON.stringify(await world.documents())).not.toContain(text);
    },
  );
});
