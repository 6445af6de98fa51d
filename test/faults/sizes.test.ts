import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/models/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Write } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';
import {
  messageBody,
  messagesPath,
  startFaultStack,
  type FaultStack,
} from '../support/processes/fault-stack.ts';
import { answered, request, sendAll } from '#test/support/chat/sending.ts';

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
    ['quotation marks', '"'],
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

test('an answer too large to store ends its turn, and the conversation goes on', async () => {
  const piece = { parts: [{ text: 'x'.repeat(100_000) }] };
  const large = {
    chunks: [...Array.from({ length: 40 }, () => piece), { parts: [], finishReason: 'STOP' }],
  };
  const chat = chatDependencies(
    { model: scriptedStreamer(large, textAnswer('Fine.')).model },
    WIDE_WINDOW,
  );
  const id = randomUUID();

  await sendMessage(chat, request(id, 'Tell me all.')).then(({ result }) =>
    result.catch(() => undefined),
  );
  const next = await answered(chat, request(id, 'And now?'));

  const [turn] = await readTurns(chat.store, id, [1]);
  expect(turn?.value.state).toMatch(/^(done|failed)$/);
  expect(next).toMatchObject({ seq: 2, state: 'done' });
});
