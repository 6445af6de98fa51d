import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import type { ModelChunk } from '#shared/ports/ports.ts';
import { snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { compactOnce, see } from '../support/compaction/compacted-conversation.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import { needAgain, worldWith } from '../support/compaction/compacting-world.ts';
import { collect, request, sendAll } from '../support/chat/sending.ts';

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
