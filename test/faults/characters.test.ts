import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { messagesPath, startFaultStack } from '../support/processes/fault-stack.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import fc from 'fast-check';

const stack = await startFaultStack();
afterAll(() => stack.stop());

/** What breaks careless programs, between code points of every plane. */
const troublemakers = fc.constantFrom(
  '\u0000',
  '\u200d',
  '\u202e',
  '\u2066',
  '\u2028',
  '\ufeff',
  '\uffff',
  '👩‍👩‍👧‍👦',
  '👋🏽',
  '🇰🇷🇯🇵',
  '\u1112\u1161\u11ab',
  'e\u0301\u0323',
  '𝒳',
  '\u{10ffff}',
  '\r\n',
  '"\\',
  '</state_snapshot>',
  'data: [DONE]\n\n',
);
const wellFormed = fc
  .array(fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), troublemakers), {
    minLength: 1,
    maxLength: 6,
  })
  .map((pieces) => pieces.join(''))
  .filter((text) => text !== '' && text.isWellFormed());
/** Bytes that a store and a model hand back, as one message of many parts. */
const PARTS = 100;
const MESSAGES = searchCases(100);

test('any text comes back from the transcript, and reaches the model, as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(wellFormed, { minLength: PARTS, maxLength: PARTS }),
      async (texts) => {
        const id = randomUUID();
        const parts = texts.map((text) => ({ type: 'text', text }));

        const response = await stack.chat.call(messagesPath(id), {
          body: { message: { id: randomUUID(), parts } },
        });

        const [message] = await stack.transcript(id);
        expect(response.status).toBe(200);
        expect(message?.parts).toEqual(parts);
        expect(stack.lastPrompt()).toEqual([
          { role: 'user', parts: texts.map((text) => ({ text })) },
        ]);
      },
    ),
    { numRuns: MESSAGES },
  );
}, 120_000);

/** `text` as the chunks that end at the UTF-16 units `edges`. */
function chunksOf(text: string, edges: readonly number[]): string[] {
  const places = [0, ...edges.map((edge) => edge % (text.length + 1)), text.length];
  const sorted = places.toSorted((a, b) => a - b);
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}

test('an answer cut within surrogate pairs is streamed in whole characters and stored whole', async () => {
  const edges = fc.array(fc.nat({ max: 200 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(wellFormed, edges, async (text, cuts) => {
      const answer = `Answer: ${text}`;
      const chunks = chunksOf(answer, cuts).map((piece) => ({ parts: [{ text: piece }] }));
      const { model } = scriptedStreamer({
        chunks: [...chunks, { parts: [], finishReason: 'STOP' }],
      });
      const dependencies = chatDependencies({ model });
      const id = randomUUID();

      const frames = await collect(
        (await sendMessage(dependencies, request(id, 'Say it.'))).frames(),
      );

      const deltas = frames.flatMap(({ chunk }) =>
        chunk.type === 'text-delta' ? [chunk.delta] : [],
      );
      const [turn] = await readTurns(dependencies.store, id, [1]);
      expect(deltas.join('')).toBe(answer);
      expect(deltas.filter((delta) => !delta.isWellFormed())).toEqual([]);
      expect(turn?.value.contents.map(contentText)).toEqual([answer]);
    }),
    { numRuns: searchCases(1_000) },
  );
}, 60_000);
