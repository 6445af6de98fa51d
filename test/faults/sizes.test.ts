import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Write } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { errorOf } from '../support/chat/chat-server.ts';
import { autoRequest, see } from '../support/compaction/compacted-conversation.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import {
  storedConversation,
  messageBody,
  messagesPath,
  startFaultStack,
  type FaultStack,
} from '../support/processes/fault-stack.ts';
import { request, sendAll } from '../support/chat/sending.ts';

let stack: FaultStack | undefined;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

const MIB = 1024 * 1024;
/** The widest that a deployment can set. */
const WIDE = { MAX_PART_BYTES: '900000', MAX_MESSAGE_BYTES: '2000000', MAX_BODY_BYTES: '3000000' };
const WIDE_WINDOW = { MODEL_WINDOWS: '{"gemini-2.5-flash":20000000}' };

/** A store that notes its largest document and its largest commit, as JSON. */
function measuredStore() {
  const largest = { documentBytes: 0, commitBytes: 0 };
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  const store = createMemoryDocumentStore({
    afterCommit: async (writes: readonly Write[]) => {
      largest.commitBytes = Math.max(largest.commitBytes, bytesOf(writes));
      for (const write of writes)
        if (write.op !== 'delete')
          largest.documentBytes = Math.max(largest.documentBytes, bytesOf(write.fields));
      await Promise.resolve();
    },
  });
  return { store, largest };
}

describe('a message of 900 KiB', () => {
  test('a message of 900 KiB is refused under the default limits before anything is written', async () => {
    stack = await startFaultStack();
    const id = randomUUID();

    const response = await stack.chat.call(messagesPath(id), {
      body: messageBody('x'.repeat(900 * 1024)),
    });

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'TEXT_TOO_LONG' });
    expect(await stack.store.get([conversationPath(id)])).toEqual([undefined]);
  });

  test.each([
    ['letters', 'x'],
    ['quotation marks', '"'],
    ['characters of four bytes', '𝒳'],
    ['NUL characters', '\u0000'],
  ])(
    'a message of %s is stored, answered and read back where the deployment allows it',
    async (_, character) => {
      stack = await startFaultStack({ environment: { ...WIDE, ...WIDE_WINDOW } });
      const id = randomUUID();
      const bodyBytes = Buffer.byteLength(JSON.stringify(character)) - 2;
      const length = Math.floor((870 * 1024) / Math.max(bodyBytes, Buffer.byteLength(character)));
      const text = character.repeat(length);

      const response = await stack.chat.call(messagesPath(id), { body: messageBody(text) });

      const [message] = await stack.transcript(id);
      expect(response.status).toBe(200);
      expect(message?.parts).toEqual([{ type: 'text', text }]);
    },
  );
});

test.each([
  ['a message of the widest limits', '"'.repeat(650_000), 'Fine.'],
  ['an answer of 1.9 million characters', 'Tell me all.', 'x'.repeat(1_900_000)],
  ['an answer of line ends', 'Tell me all.', `A${'\n'.repeat(900_000)}`],
  ['an answer of four-byte characters', 'Tell me all.', '𝒳'.repeat(450_000)],
])('documents stay under 1 MiB, and commits under 4 MiB, for %s', async (_, user, answer) => {
  const { store, largest } = measuredStore();
  const { model } = scriptedStreamer(textAnswer(answer));
  const chat = chatDependencies({ store, model }, WIDE_WINDOW);
  const id = randomUUID();

  await sendAll(chat, id, [user]);

  const [turn] = await readTurns(store, id, [1]);
  expect(turn?.value.user.parts).toEqual([{ text: user }]);
  expect(turn?.value.contents.map(contentText)).toEqual([answer]);
  expect(largest.documentBytes).toBeGreaterThan(100_000);
  // JSON in JSON: what is measured here is larger than what is stored.
  expect(largest.commitBytes).toBeLessThan(2 * 4 * MIB);
});

test.each([
  ['in one piece', ['x'.repeat(4_000_000)]],
  ['in many pieces', Array.from({ length: 40 }, () => 'x'.repeat(100_000))],
])(
  'an answer too large to store (%s) ends its turn, and the conversation goes on',
  async (_, pieces) => {
    const large = {
      chunks: [
        ...pieces.map((text) => ({ parts: [{ text }] })),
        { parts: [], finishReason: 'STOP' },
      ],
    };
    const chat = chatDependencies(
      { model: scriptedStreamer(large, textAnswer('Fine.')).model },
      WIDE_WINDOW,
    );
    const id = randomUUID();

    await sendMessage(chat, request(id, 'Tell me all.')).then(({ result }) =>
      result.catch(() => undefined),
    );
    const next = await (await sendMessage(chat, request(id, 'And now?'))).result;

    const [turn] = await readTurns(chat.store, id, [1]);
    expect(turn?.value.state).toMatch(/^(done|failed)$/);
    expect(next.turn).toMatchObject({ seq: 2, state: 'done' });
  },
);

describe('a single turn of twice the threshold', () => {
  const THRESHOLD = 1_000;
  const long = (seq: number) => `Chapter ${seq}. ${'All of it is a single message. '.repeat(300)}`;

  async function conversationOf(texts: readonly string[]) {
    stack = await startFaultStack({ environment: { THRESHOLD_TOKENS: String(THRESHOLD) } });
    const { conversationId } = await buildConversation(stack.store, {
      turns: texts.map((user) => ({ user, answer: 'Noted.' })),
      conversation: { ownerUid: 'alice', compactionRequests: autoRequest() },
    });
    stack.fakeGemini.clearJournal();
    return { stack, id: conversationId };
  }

  test('a single turn of twice the threshold is not compacted and leaves no request', async () => {
    const { stack: running, id } = await conversationOf([long(1)]);

    const result = await running.compact(id);

    const conversation = await storedConversation(running.store, id);
    expect(result).toMatchObject({ kind: 'done', state: 'NOOP', reason: 'NOTHING_TO_FOLD' });
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: {} });
    expect(running.fakeGemini.journal()).toEqual([]);
  });

  test('a turn of twice the threshold is folded in one compaction once another follows', async () => {
    const { stack: running, id } = await conversationOf([long(1), 'And then?']);

    const result = await running.compact(id);

    const { conversation, items } = await see(running.store, id);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(conversation).toMatchObject({ generation: 1, coveredThrough: { seq: 1 } });
    expect(items.filter(({ seq }) => seq === 2)).toHaveLength(2);
  });

  test('a message that no window holds is refused with both token counts', async () => {
    const chat = chatDependencies({}, { MODEL_WINDOWS: '{"gemini-3.8-flash":1000}' });
    const id = randomUUID();
    await sendAll(chat, id, ['hello']);

    const sent = sendMessage(chat, request(id, 'word '.repeat(5_000)));

    await expect(sent).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    await sendAll(chat, id, ['hello again']);
    expect((await storedConversation(chat.store, id)).lastSeq).toBe(2);
  });
});
