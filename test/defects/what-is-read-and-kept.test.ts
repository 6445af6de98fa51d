import { describe, expect, test } from 'vitest';
import { systemClock } from '../../functions/src/adapters/system-clock.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { planCompaction } from '../../shared/compaction/plan.ts';
import { resolvePolicy } from '../../shared/compaction/policy.ts';
import { estimatePromptTokens } from '../../shared/compaction/token-estimate.ts';
import { contentText, type Content } from '../../shared/conversation/content.ts';
import { snapshotTexts } from '../../shared/conversation/snapshot.ts';
import { snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { brokenPairs } from '../support/broken-pairs.ts';
import { buildDue, compactOnce, manualNeed, see } from '../support/compacted-conversation.ts';
import { benchWith, configOf, strategies, worldWith } from '../support/compacting-world.ts';
import {
  madeUpAnswer,
  madeUpQuestion,
  modelText,
  type TurnToBuild,
} from '../support/conversation-builder.ts';
import { foldedTurn } from '../support/folded-turn.ts';
import { request, sendAll } from '../support/sending.ts';

const MODEL = 'gemini-2.5-flash';
const rule = 'character-class';

describe('D12: a summary request that no window holds', () => {
  const windowTokens = 128_000;
  const limitTokens = 0.6 * windowTokens;
  const turns = Array.from({ length: 25_000 }, (_, index) => ({
    ...foldedTurn(index + 1, madeUpQuestion(index + 1)),
    contents: [modelText(madeUpAnswer(index + 1))],
  }));
  const policy = resolvePolicy({ model: MODEL, windowOverrides: { [MODEL]: windowTokens } });

  test.each(strategies)(
    'D12: of 50,000 messages no call of the %s summariser is to read more than 60 percent of its window',
    (strategy) => {
      const plan = planCompaction({
        context: {
          model: MODEL,
          pins: [],
          history: undefined,
          coveredThrough: { seq: 0, contentIndex: 0 },
          turns,
        },
        policy,
        calibration: 1,
        summariserWindowTokens: windowTokens,
        isModelAllowed: true,
        blobName: String,
        strategy,
      });

      expect(plan.kind).toBe('fold');
      const chunks = plan.kind === 'fold' ? plan.chunks : [];
      const sizes = chunks.map((chunk) =>
        estimatePromptTokens(
          { contents: chunk.turns.flatMap(({ user, contents }) => [user, ...contents]) },
          rule,
        ),
      );
      expect(chunks.length).toBe(strategy === 'ledger' ? 16 : 1);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(limitTokens);
      expect(Math.min(...sizes)).toBeGreaterThan(0.5 * limitTokens);
    },
  );

  test('D12: 5,000 messages go to a small model in requests that its window holds', async () => {
    const small = 32_000;
    const bench = benchWith('ledger', [snapshotAnswer()], {
      config: configOf('ledger', { MODEL_WINDOWS: JSON.stringify({ [MODEL]: small }) }),
    });
    const conversationId = await buildDue(bench, {
      turns: 2_500,
      head: { compactionNeeded: manualNeed() },
    });

    const result = await compactOnce(bench, conversationId);

    const sizes = bench.model.calls.map((call) => estimatePromptTokens(call, rule));
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(sizes.length).toBeGreaterThan(10);
    expect(Math.max(...sizes)).toBeLessThan(small);
  });
});

describe('D13: turns that share a time', () => {
  test.each(strategies)(
    'D13: twenty turns of one millisecond lose none that the %s compaction keeps',
    async (strategy) => {
      const bench = benchWith(strategy, [snapshotAnswer()]);
      const conversationId = await buildDue(bench, { now: new Date(1_000), turns: 20 });
      const before = await see(bench.store, conversationId);

      await compactOnce(bench, conversationId);

      const { head, items } = await see(bench.store, conversationId);
      const kept = items.filter(({ kind }) => kind === 'turn');
      const covered = head.coveredThrough.seq;
      expect(covered).toBeGreaterThan(10);
      expect(kept).toEqual(before.items.filter(({ seq = 0 }) => seq > covered));
      expect(kept).toHaveLength(2 * (20 - covered));
    },
  );
});

const orders = Array.from({ length: 58 }, (_, index) => `ORD-${81_000 + 37 * index}`);
const orderTurns = orders.map((order, index) => ({
  user: `Order ${order} goes to the ${madeUpQuestion(index + 1)}`,
}));
const lostIn = (text: string) => orders.filter((order) => !text.includes(order));

describe('D16: a summariser that sees a sixth of what it replaces', () => {
  const windows = { MODEL_WINDOWS: JSON.stringify({ [MODEL]: 6_000 }) };

  test('D16: all 58 order numbers are shown to the ledger summariser, over several calls', async () => {
    const bench = benchWith('ledger', [snapshotAnswer()], { config: configOf('ledger', windows) });
    const conversationId = await buildDue(bench, { turns: orderTurns });

    const result = await compactOnce(bench, conversationId);

    const { head, items, history } = await see(bench.store, conversationId);
    const shown = bench.model.calls.map(({ contents }) => JSON.stringify(contents));
    const kept = JSON.stringify(items.filter(({ kind }) => kind === 'turn'));
    const known = history?.snapshot ? snapshotTexts(history.snapshot).join('\n') : '';
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(shown.length).toBeGreaterThan(1);
    expect(head.coveredThrough.seq).toBeGreaterThan(50);
    expect(lostIn(shown.join('\n') + kept)).toEqual([]);
    expect(lostIn(known + kept)).toEqual([]);
  });

  test('D16: what the rewrite summariser is not shown stays in the context', async () => {
    const bench = benchWith('rewrite', [snapshotAnswer()], {
      config: configOf('rewrite', windows),
    });
    const conversationId = await buildDue(bench, { turns: orderTurns });

    await compactOnce(bench, conversationId);

    const { head, items } = await see(bench.store, conversationId);
    const folded = orders.slice(0, head.coveredThrough.seq);
    const kept = JSON.stringify(items.filter(({ kind }) => kind === 'turn'));
    const shown = JSON.stringify(bench.model.calls[0]?.contents);
    expect(head.generation).toBe(1);
    expect(folded.filter((order) => !shown.includes(order))).toEqual([]);
    expect(lostIn(shown + kept)).toEqual([]);
  });
});

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
    'D22: after a compaction of %s every call that is sent has its response, and every response its call',
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

  test('D22: a pending call is never sent without its response, also where nothing was folded', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const world = worldWith('ledger', [snapshotAnswer()], { model });
    const turns = [{ answer: [...step(1), pendingCall], state: 'cancelled' as const }];
    const conversationId = await buildDue(world, { turns });

    await sendAll(world.chat, conversationId, ['And now?']);

    expect(requests[0]?.contents).toHaveLength(4);
    expect(brokenPairs(requests[0]?.contents ?? [])).toEqual([]);
  });

  test('D22: a turn that is being answered is not folded, and stands whole behind the snapshot', async () => {
    const gate = Promise.withResolvers<void>();
    const { model } = scriptedStreamer({
      ...textAnswer('It is the third door.'),
      gate: gate.promise,
    });
    const world = worldWith('ledger', [snapshotAnswer()], { model, clock: systemClock });
    const conversationId = await buildDue(world, {
      head: { settings: { thresholdTokens: 2_000 } },
    });
    const handle = await sendMessage(world.chat, request(conversationId, 'Which door is it?'));

    const result = await compactOnce(world.bench, conversationId);
    gate.resolve();
    await handle.result;

    const { head, items } = await see(world.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(head.coveredThrough.seq).toBeLessThan(21);
    expect(items.slice(-2).map(({ content }) => contentText(content))).toEqual([
      'Which door is it?',
      'It is the third door.',
    ]);
  });
});
