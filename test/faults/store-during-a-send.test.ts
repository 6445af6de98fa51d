import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { createShiftedClock } from '../fakes/shifted-clock.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { errorOf, startChatServer, type ChatServer } from '../support/chat/chat-server.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { compactionBench } from '../support/compaction/compaction-dependencies.ts';
import { buildDue, compactOnce } from '../support/compaction/compacted-conversation.ts';
import { storedConversation, messageBody, messagesPath } from '../support/processes/fault-stack.ts';
import { createFaultyStore, storeFaults, type StoreFault } from '../support/stores/faulty-store.ts';
import { request } from '../support/chat/sending.ts';

const LEASE_MS = 20_000;
const TRIES = 8;

/** A compacted conversation, and chat without a cache: every read of a send goes to the store. */
async function compactedConversation() {
  const faulty = createFaultyStore();
  const store = createMemoryDocumentStore(faulty.hooks);
  const clock = createShiftedClock();
  const bench = compactionBench({ store });
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const cache = createMemoryCache({ maxBytes: 0 });
  const chat = chatDependencies({ store, cache, clock, model });
  return { faulty, store, clock, chat, conversationId, requests };
}

type Bench = Awaited<ReturnType<typeof compactedConversation>>;

/** A phone that sends again, after the lease, what was refused for the moment. Returns how often it sent. */
async function insist({ chat, clock, conversationId }: Bench, messageId: string) {
  for (let tries = 1; ; tries++) {
    try {
      const handle = await sendMessage(chat, request(conversationId, 'One more.', messageId));
      await handle.result;
      return tries;
    } catch (error) {
      if (!(error instanceof AppError && error.retryable) || tries === TRIES) throw error;
      clock.shift(LEASE_MS + 1);
    }
  }
}

/** Sends the 21st message of a conversation while the store fails as it is told. */
async function sendUnder(fault: StoreFault) {
  const bench = await compactedConversation();
  bench.faulty.arm(fault);
  const tries = await insist(bench, randomUUID());
  const { store, conversationId, requests } = bench;
  bench.faulty.arm();
  const conversation = await storedConversation(store, conversationId);
  const [turn] = await readTurns(store, conversationId, [21]);
  return {
    fault,
    tries,
    modelCalls: requests.length,
    lastSeq: conversation.lastSeq,
    open: conversation.open,
    state: turn?.value.state,
    user: turn && contentText(turn.value.user),
    answer: turn?.value.contents.map(contentText).join(),
  };
}

async function callsOfASend(): Promise<number> {
  const bench = await compactedConversation();
  bench.faulty.arm();
  await insist(bench, randomUUID());
  return bench.faulty.calls();
}

const isOneTurn = (sent: Awaited<ReturnType<typeof sendUnder>>) =>
  sent.lastSeq === 21 &&
  sent.open === undefined &&
  sent.state === 'done' &&
  sent.user === 'One more.' &&
  sent.answer === 'Fine.';

/** What came of a send for each of its store calls failing, first to last. */
async function sendsUnder(fault: Omit<StoreFault, 'nth'>) {
  const calls = await callsOfASend();
  const sends = [];
  for (let nth = 1; nth <= calls; nth++) sends.push(await sendUnder({ ...fault, nth }));
  return sends;
}

describe('a store that answers a send with', () => {
  test.each(storeFaults)(
    'a store that answers $name at any call of a send loses and doubles no message',
    async ({ code }) => {
      const sends = await sendsUnder({ code, calls: 1, isReplyLost: false });

      expect(sends.length).toBeGreaterThan(4);
      expect(sends.filter((sent) => !isOneTurn(sent))).toEqual([]);
      expect(sends.filter(({ modelCalls }) => modelCalls > 1)).toEqual([]);
    },
  );

  test.each(storeFaults)(
    'a store that answers $name after a commit of a send goes unnoticed',
    async ({ code }) => {
      const sends = await sendsUnder({ code, calls: 1, isReplyLost: true });

      expect(sends.filter((sent) => !isOneTurn(sent))).toEqual([]);
      expect(sends.filter(({ modelCalls, tries }) => modelCalls > 1 || tries > 1)).toEqual([]);
    },
  );

  test.each([
    { way: 'before it has done anything', isReplyLost: false, leastTries: 2 },
    { way: 'after its commits were applied', isReplyLost: true, leastTries: 1 },
  ])(
    'a store UNAVAILABLE for six calls of a send, $way, still gives one turn',
    async ({ isReplyLost, leastTries }) => {
      const sends = await sendsUnder({ code: 14, calls: 6, isReplyLost });

      expect(sends.filter((sent) => !isOneTurn(sent))).toEqual([]);
      expect(Math.max(...sends.map(({ tries }) => tries))).toBeGreaterThanOrEqual(leastTries);
    },
    60_000,
  );
});

describe('a store that is away', () => {
  let server: ChatServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  test('an unavailable store gives 503 with a retry time, and the message can be resent', async () => {
    const faulty = createFaultyStore();
    const store = createMemoryDocumentStore(faulty.hooks);
    server = await startChatServer({ overrides: { store } });
    const path = messagesPath(randomUUID());
    const body = messageBody('Hello');

    faulty.arm({ code: 14, nth: 1, calls: 1_000, isReplyLost: false });
    const refused = await server.call(path, { body });
    faulty.arm();
    const sent = await server.call(path, { body });

    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await errorOf(refused)).toMatchObject({ http: 503, reason: 'STORE_UNAVAILABLE' });
    expect(sent.status).toBe(200);
  });
});
