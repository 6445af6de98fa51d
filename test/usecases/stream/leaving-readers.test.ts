import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sseText } from '#functions/chat/http/sse.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { request, textOf } from '#test/support/chat/sending.ts';
import {
  openStream,
  pass,
  readUntil,
  sayEach,
  settle,
  steeredChat,
} from '#test/support/chat/streaming.ts';
import { eventually } from '#test/support/eventually.ts';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';

/** A store that knows how many watches of it are open, and how often it was read by id. */
function countingStore(store: DocumentStore) {
  let open = 0;
  let reads = 0;
  const counting: DocumentStore = {
    ...store,
    get: (paths) => {
      reads += 1;
      return store.get(paths);
    },
    async *watch(collection, signal) {
      open += 1;
      try {
        yield* store.watch(collection, signal);
      } finally {
        open -= 1;
      }
    },
  };
  return { store: counting, openWatches: () => open, reads: () => reads };
}

/** A turn that one instance answers, and another instance whose reads and watches are counted. */
async function elsewhere(overrides: Partial<ChatDependencies> = {}) {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const conversationId = randomUUID();
  const chat = steeredChat({ clock, store });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const call = await chat.call();
  await sayEach(clock, call, ['Half an ', 'answer']);
  await pass(clock, 600);
  const { store: counted, ...counts } = countingStore(store);
  const other = chatDependencies({ clock, store: counted, ...overrides });
  return { ...chat, ...counts, clock, conversationId, send, handle, call, other };
}

/** Reads the text of a stream to its end, in the background. */
function reading(
  frames: AsyncIterable<StreamFrame>,
  {
    clock,
    left = new AbortController().signal,
  }: { clock: ChatDependencies['clock']; left?: AbortSignal },
) {
  const pieces: string[] = [];
  const end = (async () => {
    const options = { clock, heartbeatMs: 8_000, generation: 0, left };
    for await (const text of sseText(frames, options)) pieces.push(text);
  })();
  end.catch(() => undefined);
  return { pieces, end };
}

describe('a reader of another instance’s turn that leaves', () => {
  test('a reader of another instance’s turn that leaves in silence ends all reads', async () => {
    const { other, conversationId, openWatches, reads, clock } = await elsewhere();
    const left = new AbortController();
    const frames = await openStream(other, { conversationId, left: left.signal });
    const { end, pieces } = reading(frames, { clock, left: left.signal });
    await settle();
    expect(pieces.join('')).toContain('answer');
    expect(openWatches()).toBe(1);

    left.abort();
    await end;
    await settle();
    const readsBefore = reads();
    await pass(clock, 60_000, 1_000);

    expect(openWatches()).toBe(0);
    expect(reads()).toBe(readsBefore);
  });
});

describe('a reader of another instance’s turn when its own instance ends', () => {
  test.each([
    ['who only reads', false],
    ['who sent the same message', true],
  ])(
    'a reader of another instance %s is cut off without [DONE] when its instance ends',
    async (_, isSender) => {
      const shutdown = new AbortController();
      const { other, conversationId, send, clock, openWatches } = await elsewhere({
        shutdown: shutdown.signal,
      });
      const frames = isSender
        ? (await sendMessage(other, send)).frames()
        : await openStream(other, { conversationId });
      const { pieces, end } = reading(frames, { clock });
      await settle();

      shutdown.abort();
      await expect(end).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
      await settle();

      expect(pieces.join('')).toContain('answer');
      expect(pieces.join('')).not.toMatch(/finish|error|DONE/);
      expect(openWatches()).toBe(0);
    },
  );

  test('a reader whose own instance ends loses nothing and continues elsewhere', async () => {
    const shutdown = new AbortController();
    const { other, conversationId, clock, call, handle, dependencies } = await elsewhere({
      shutdown: shutdown.signal,
    });
    const frames = await openStream(other, { conversationId, cursor: 1 });
    const read: StreamFrame[] = [];
    const cut = (async () => {
      for await (const frame of frames) read.push(frame);
    })();
    cut.catch(() => undefined);
    await settle();
    shutdown.abort();
    await expect(cut).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
    call.say(' and the rest');
    call.end();
    await pass(clock, 100);
    await handle.result;

    const rest = await openStream(dependencies, { conversationId, cursor: read.at(-1)?.id });

    const late = await readUntil(rest, () => false);
    expect(textOf([...read, ...late])).toBe('Half an answer and the rest');
  });
});

describe('over HTTP', () => {
  let server: ChatServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  test('a client that hangs up in silence is released while the turn continues', async () => {
    const store = createMemoryDocumentStore();
    const conversationId = randomUUID();
    const chat = steeredChat({ store });
    const send = {
      ...request(conversationId, 'Tell me.'),
      caller: { uid: 'alice', tier: 'signedIn' as const },
    };
    const handle = await sendMessage(chat.dependencies, send);
    (await chat.call()).say('Half');
    const { store: counted, openWatches } = countingStore(store);
    server = await startChatServer({ overrides: { store: counted } });
    const hangUp = new AbortController();
    const path = `/v1/conversations/${conversationId}/stream`;
    const response = await server.call(path, { signal: hangUp.signal });
    await response.body?.getReader().read();
    expect(openWatches()).toBe(1);

    hangUp.abort();

    await eventually(
      'the watch is closed',
      () => Promise.resolve(openWatches() === 0 || undefined),
      4_000,
    );
    (await chat.call()).end();
    expect((await handle.result).turn.state).toBe('done');
  });
});
