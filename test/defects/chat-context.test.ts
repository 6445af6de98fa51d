import { viewOfNextCall } from '#functions/context/next-call.ts';
import { needAgain, worldWith } from '../support/chat/lifecycle.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText, type Content, type Part } from '#shared/conversation/documents/content.ts';
import type { ModelChunk } from '#shared/ports/ports.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import type { Lifecycle } from '#test/support/chat/lifecycle.ts';
import { collect, request, sendAll } from '#test/support/chat/sending.ts';
import { compactOnce, see, buildDue } from '#test/support/compaction/compacted-conversation.ts';
import {
  buildConversation,
  modelText,
  type TurnToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { brokenPairs } from '#test/support/tools/broken-pairs.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

describe('D14: cumulative counts added up', () => {
  const usage = (outputTokens: number) => ({
    promptTokens: 10_000,
    cachedTokens: 0,
    outputTokens,
    thoughtsTokens: 0,
  });

  test('D14: of three usage reports of one answer the last counts, not their sum', async () => {
    const chunks: ModelChunk[] = [10, 20, 30].map((outputTokens) => ({
      parts: [{ text: 'Some words. ' }],
      usage: usage(outputTokens),
    }));
    const { model } = scriptedStreamer({
      chunks: [...chunks, { parts: [], finishReason: 'STOP', usage: usage(30) }],
    });

    const handle = await sendMessage(chatDependencies({ model }), request(randomUUID(), 'Hello'));
    const { turn, context } = await handle.result;

    expect(context.tokens).toBe(10_030);
    expect(turn.usage).toMatchObject({ promptTokens: 10_000, outputTokens: 30 });
  });
});

describe('D21: an end after 25 documents, and one block that poisons every later call', () => {
  test('D21: sixty messages are each answered with everything said before', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const chat = chatDependencies({ model });
    const id = randomUUID();
    const texts = Array.from({ length: 60 }, (_, index) => `Message ${index + 1}.`);

    await sendAll(chat, id, texts);

    expect(requests).toHaveLength(60);
    expect(requests.at(-1)?.contents.map(contentText)).toEqual(
      texts.flatMap((text, index) => (index < 59 ? [text, 'Fine.'] : [text])),
    );
  });

  test('D21: a message after a thousand turns reads only the documents of the context', async () => {
    const read: string[] = [];
    const store = createMemoryDocumentStore({
      beforeOperation: (operation) => {
        if (operation.name === 'get') read.push(...operation.paths);
        return Promise.resolve();
      },
    });
    const { conversationId } = await buildConversation(store, {
      turns: 1_000,
      conversation: { coveredThrough: { seq: 990, contentIndex: 0 } },
    });

    await sendAll(chatDependencies({ store }), conversationId, ['And now?']);

    expect(new Set(read.filter((path) => /\/turns\/\d+$/u.test(path))).size).toBeLessThanOrEqual(
      11,
    );
  });

  test.each(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST'])(
    'D21: a %s block half way through stays out of every later prompt, before and after a compaction',
    async (finishReason) => {
      const said = (text: string, end: string) => ({
        chunks: [{ parts: [{ text }] }, { parts: [], finishReason: end }],
      });
      const fine = said('A fine place by the sea. '.repeat(20), 'STOP');
      const { model, requests } = scriptedStreamer(fine, said('Half a bad', finishReason), fine);
      const world = worldWith('ledger', [snapshotAnswer()], { model });
      const { conversationId } = await buildConversation(world.store, {
        turns: 20,
        conversation: { settings: { thresholdTokens: 2_000 } },
      });
      await sendAll(world.chat, conversationId, ['Hello.']);

      const bad = await sendMessage(world.chat, request(conversationId, 'Say a bad word.'));
      const frames = await collect(bad.frames());
      await sendAll(world.chat, conversationId, ['Next.']);
      await needAgain(world, conversationId, 'request-1');
      const result = await compactOnce(world.bench, conversationId);
      await sendAll(world.chat, conversationId, ['Last.']);

      expect(frames.at(-1)?.chunk).toMatchObject({ finishReason: 'content-filter' });
      expect(result).toMatchObject({ state: 'COMPACTED' });
      for (const { contents } of requests.slice(2)) {
        const text = contents.map(contentText).join('\n');
        expect(text).not.toMatch(/bad word|Half a bad/u);
        const roles = contents.map(({ role }) => role);
        expect(roles).toEqual(roles.map((_, index) => (index % 2 === 0 ? 'user' : 'model')));
      }
      expect((await see(world.store, conversationId)).text).not.toContain('bad word');
      expect(requests).toHaveLength(4);
    },
  );
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

/** A threshold at which tool outputs have the whole 50,000 tokens. */
const THRESHOLD_TOKENS = 300_000;
const BUDGET_TOKENS = 50_000;

const toolTurn = (output: string): TurnToBuild => {
  const contents: Content[] = [
    { role: 'model', parts: [{ functionCall: { name: 'grep', args: { n: 1 } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'grep', response: { output } } }] },
    modelText('Read.'),
  ];
  return { user: 'Search.', answer: contents };
};

/** 30,000 characters that no other output has. */
const output = (input: string) =>
  `${input}: ${'plain words of a file '.repeat(2_000)}`.slice(0, 30_000);

/** The tool outputs as the next call sends them. */
const outputsSent = async ({ bench }: Lifecycle, conversationId: string): Promise<Part[]> => {
  const seen = await see(bench.store, conversationId);
  const { items } = viewOfNextCall(bench, { ...seen.conversation, ...seen });
  return items.flatMap(({ content }) =>
    content.parts.filter(({ functionResponse }) => functionResponse),
  );
};

const tokensOf = (parts: readonly Part[]) =>
  parts.reduce((sum, part) => sum + estimatePartTokens(part, 'character-class'), 0);

test('D7: a hundred long outputs fit the total budget', async () => {
  const world = worldWith('ledger', [snapshotAnswer()]);
  const outputs = Array.from({ length: 100 }, (_, index) => output(`file ${index}`));
  const { conversationId } = await buildConversation(world.store, {
    turns: outputs.map(toolTurn),
    conversation: { settings: { thresholdTokens: THRESHOLD_TOKENS } },
  });

  const sent = await outputsSent(world, conversationId);

  expect(sent).toHaveLength(100);
  expect(tokensOf(sent)).toBeLessThanOrEqual(BUDGET_TOKENS);
  expect(tokensOf(sent)).toBeGreaterThan(0.8 * BUDGET_TOKENS);
});
