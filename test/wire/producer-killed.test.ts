import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import type { DocumentStore, ModelStreamer } from '#shared/ports/ports.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import {
  lastIdOf,
  readEvents,
  shownText,
  type WireEvent,
} from '../support/wire/shown-by-client.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

/** Four hundred bytes each, so that a chunk is stored after every third, and some are lost each time. */
const PIECES = 7;
const piece = (name: string, n: number) => `${name} ${n} ${'.'.repeat(400)} `;
const wholeText = (name: string) =>
  Array.from({ length: PIECES }, (_, n) => piece(name, n)).join('');

/** `start`, `text-start`, the pieces, `text-end`, `data-context`, `finish`. */
const FRAMES = PIECES + 5;

/** A lease short enough to wait for, and long enough for a slow machine to renew it. */
const LEASE_MS = 1_500;

const never = () => new Promise<never>(() => undefined);

/** How many frames a reader has; a model that waits for it is never ahead of a death. */
function createProgress() {
  const read = { frames: 0 };
  let change = Promise.withResolvers<void>();
  return {
    reached: (count: number) => {
      read.frames = count;
      change.resolve();
      change = Promise.withResolvers<void>();
    },
    until: async (count: number) => {
      while (read.frames < count) await change.promise;
    },
  };
}

/** A model that says the pieces under a name of its own, each when `mayGoOn`. */
const speaker = (
  name: string,
  outputTokens: number,
  mayGoOn: (n: number) => Promise<void> = () => Promise.resolve(),
): ModelStreamer => ({
  async *stream() {
    for (let n = 0; n < PIECES; n++) {
      await mayGoOn(n);
      yield { parts: [{ text: piece(name, n) }] };
    }
    const usage = { promptTokens: 100, cachedTokens: 0, outputTokens, thoughtsTokens: 0 };
    yield { parts: [], finishReason: 'STOP', usage };
  },
});

const store = createMemoryDocumentStore();
const environment = { TURN_LEASE_MS: String(LEASE_MS) };
const survivor = await startChatServer({
  environment,
  overrides: { store, model: speaker('second', 22) },
});
afterAll(() => survivor.stop());

/** An instance that is gone from one moment on: nothing of it reaches the store or a client any more. */
async function mortal() {
  let isDead = false;
  const alive = <Result>(work: () => Promise<Result>) => (isDead ? never() : work());
  const dying: DocumentStore = {
    ...store,
    get: (paths) => alive(() => store.get(paths)),
    commit: (writes) => alive(() => store.commit(writes)),
  };
  const progress = createProgress();
  const server = await startChatServer({
    environment,
    overrides: {
      store: dying,
      // `start` and `text-start`, which comes with the first piece, and the pieces before this one.
      model: speaker('first', 11, (n) => progress.until(n === 0 ? 0 : n + 2)),
      atCrashPoint: () => (isDead ? never() : Promise.resolve()),
    },
  });
  const kill = async () => {
    isDead = true;
    await server.stop();
  };
  return { server, kill, progress };
}

const sse = { accept: 'text/event-stream' };

/** A client that has read `k` frames of an answer when its server dies. */
async function killedAfter(k: number) {
  const { server, kill, progress } = await mortal();
  const conversationId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const body = { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Tell me.' }] } };
  const sent = await server.call(`${path}/messages`, { body, headers: sse });
  const seen = await readEvents(sent, ({ length }) => {
    if (length < k) progress.reached(length);
    return length >= k;
  });
  await kill();
  return { conversationId, path, body, seen };
}

async function stored(conversationId: string) {
  const turns = (await readTurns(store, conversationId, [1, 2])).map(({ value }) => value);
  const [turn] = turns;
  return {
    count: turns.length,
    state: turn?.state,
    text: turn?.contents.map(contentText).join(''),
    outputTokens: turn?.usage?.outputTokens,
  };
}

/** How a client comes back. */
const ways: Record<
  string,
  (lost: Awaited<ReturnType<typeof killedAfter>>) => Promise<WireEvent[]>
> = {
  'the message again': async ({ path, body }) =>
    readEvents(await survivor.call(`${path}/messages`, { body, headers: sse })),
  'the message again, after its last event': async ({ path, body, seen }) => {
    const query = seen.length === 0 ? '' : `?startingAfter=${lastIdOf(seen)}`;
    const again = await survivor.call(`${path}/messages${query}`, { body, headers: sse });
    return [...seen, ...(await readEvents(again))];
  },
  'the stream of the turn, after its last event': async ({ path, seen }) => {
    const cursor = seen.length > 0 && { 'last-event-id': String(lastIdOf(seen)) };
    const headers = { ...sse, ...cursor };
    const rest = await survivor.call(`${path}/turns/t_1/stream`, { headers });
    return rest.status === 204 ? seen : [...seen, ...(await readEvents(rest))];
  },
};

const deaths = Array.from({ length: FRAMES + 1 }, (_, k) => k);

describe.each(Object.keys(ways))('an answer whose server dies, asked for by %s', (way) => {
  test.concurrent.each(deaths)(
    'an answer whose server dies after %i frames is shown as stored, once',
    async (k) => {
      const lost = await killedAfter(k);

      const events = (await ways[way]?.(lost)) ?? [];

      const { count, state, text, outputTokens } = await stored(lost.conversationId);
      expect({ count, state }).toEqual({ count: 1, state: 'done' });
      expect(shownText(events)).toBe(text);
      // Whole, and of one model, whose usage is the one that is recorded.
      const isFirst = text === wholeText('first');
      expect(text).toBe(wholeText(isFirst ? 'first' : 'second'));
      expect(outputTokens).toBe(isFirst ? 11 : 22);
      expect(isFirst && k < PIECES + 2).toBe(false);
    },
  );
});
