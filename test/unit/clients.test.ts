import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchPaceMs } from '#clients/typescript/src/chat/context.ts';
import { type StoredTurn, bounded, withTurns } from '#clients/typescript/src/chat/transcript.ts';
import { createEventReader, type ServerEvent } from '#clients/typescript/src/http/events.ts';
import { createRecap } from '#clients/typescript/src/recap.ts';
import { fileStore } from '#clients/typescript/src/storage/file.ts';
import { memoryStore } from '#clients/typescript/src/storage/memory.ts';
import type { ContextObject } from '#clients/typescript/src/wire/wire.ts';

/** A client that is closed with its test. */
function recapWith(options: Partial<Parameters<typeof createRecap>[0]>) {
  const getIdToken = () => Promise.resolve('token');
  const recap = createRecap({ baseUrl: 'http://recap.test', getIdToken, ...options });
  onTestFinished(() => recap.close());
  return recap;
}

/** The ID token of a user. */
const tokenOf = (uid: string) => `x.${btoa(JSON.stringify({ sub: uid }))}.x`;

const turnsFrom = (first: number, last: number): ReadonlyMap<number, StoredTurn> =>
  new Map(
    Array.from({ length: last - first + 1 }, (_, index) => [first + index, { seq: first + index }]),
  );

test.each([
  ['newer ones', 'oldest', [3, 4, 5]],
  ['older ones', 'newest', [1, 2, 3]],
] as const)(
  'a chat that holds all the turns it may drops those at the other end for %s',
  (_, dropped, left) => {
    expect([...bounded(turnsFrom(1, 5), 3, dropped).keys()]).toEqual(left);
  },
);

test.each([
  ['behind them', [1, 3], [4, 5], [1, 2, 3, 4, 5]],
  ['before them', [4, 5], [2, 3], [2, 3, 4, 5]],
  ['beyond a gap', [1, 2], [5, 6], [5, 6]],
] as const)('of turns that are read %s, none is shown beside a gap', (_, known, read, shown) => {
  const turns = withTurns(turnsFrom(known[0], known[1]), turnsFrom(read[0], read[1]));
  expect([...turns.keys()].toSorted((one, other) => one - other)).toEqual(shown);
});

const context = (tokens: number, state?: string): ContextObject => ({
  tokens,
  thresholdTokens: 1_000,
  windowTokens: 10_000,
  percent: 0,
  source: 'reported',
  generation: 0,
  compaction: state === undefined ? null : { state },
});

test.each([
  ['nothing is due', context(900), 0, undefined],
  ['a compaction is due', context(1_000), 0, 100],
  ['one that is due does not begin', context(1_000), 15_000, undefined],
  ['one runs', context(1_000, 'RUNNING'), 59_999, 100],
  ['one runs, and nothing moves', context(1_000, 'RUNNING'), 60_000, 500],
  ['one has ended', context(300, 'COMPACTED'), 0, undefined],
] as const)('where %s, the context is looked at accordingly', (_, now, unchangedMs, paceMs) => {
  expect(watchPaceMs(now, unchangedMs, 100)).toBe(paceMs);
});

test('events are read from pieces of any size, whatever ends their lines', () => {
  const text = ': hello\r\nid: 7\r\ndata: {"a":\r\ndata:1}\r\n\r\ndata: [DONE]\n\n';
  for (let size = 1; size <= text.length; size += 1) {
    const events: ServerEvent[] = [];
    const read = createEventReader((event) => events.push(event));
    for (let start = 0; start < text.length; start += size) read(text.slice(start, start + size));
    expect(events).toEqual([
      { id: '7', data: '{"a":\n1}' },
      { id: undefined, data: '[DONE]' },
    ]);
  }
});

test('of 51 chats that were opened, a client keeps the last 50', async () => {
  const storage = memoryStore();
  const nothing = { error: { message: 'No.', details: [{ reason: 'CONVERSATION_NOT_FOUND' }] } };
  const recap = recapWith({
    storage,
    fetch: () => Promise.resolve(Response.json(nothing, { status: 404 })),
  });
  const ids = Array.from({ length: 51 }, () => crypto.randomUUID());
  for (const id of ids) {
    const chat = recap.chat(id);
    const leave = chat.subscribe(() => undefined);
    await expect.poll(() => chat.state.isLoaded).toBe(true);
    leave();
  }
  recap.close();

  await expect.poll(() => storage.keys('chat/')).toHaveLength(50);
  expect(await storage.get(`chat/${ids[0]}`)).toBeUndefined();
});

test('two programs on one folder keep what each of them writes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recap-store-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [one, other] = [fileStore(folder), fileStore(folder)];
  const keys = Array.from({ length: 40 }, (_, index) => `outbox/${index}`);
  const write = (key: string, index: number) =>
    (index % 2 === 0 ? one : other).set(key, `value of ${key}`);
  await Promise.all(keys.map(write));

  const values = await Promise.all(keys.map((key) => one.get(key)));
  expect(values).toEqual(keys.map((key) => `value of ${key}`));
});

test('what a program left unfinished when it was killed is deleted, but not what is being written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recap-store-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await Promise.all(['~left', '~young', 'kept'].map((name) => writeFile(join(folder, name), '')));
  const before = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(folder, '~left'), before, before);

  expect(await fileStore(folder).keys('')).toEqual(['kept']);
  expect((await readdir(folder)).toSorted()).toEqual(['kept', '~young']);
});

test('a message that is not sent yet says why', async () => {
  const recap = recapWith({
    getIdToken: () => Promise.reject(new Error('signed out')),
  });
  const chat = recap.chat();
  await chat.send('Hello');

  await expect.poll(() => chat.messages[0]?.error?.reason).toBe('OFFLINE');
  expect(chat.messages[0]).toMatchObject({ state: 'pending', error: { isRetryable: true } });
});

test.each(['', 'recap.test', 'ftp://recap.test'])(
  'the address %j of a service is refused at once',
  (baseUrl) => {
    const getIdToken = () => Promise.resolve('token');
    expect(() => createRecap({ baseUrl, getIdToken })).toThrow(/baseUrl is the address/u);
  },
);

test('a chat that is opened over the store of another user shows nothing of what is kept', async () => {
  const storage = memoryStore();
  const id = crypto.randomUUID();
  const parts = [{ type: 'text', text: 'Secret' }];
  const kept = { id: 'first', seq: 1, role: 'user', state: 'done', parts, createTime: '' };
  await storage.set('user', '"ada"');
  await storage.set(`chat/${id}`, JSON.stringify({ messages: [kept], erasedCount: 0 }));
  const recap = recapWith({
    getIdToken: () => Promise.resolve(tokenOf('bob')),
    storage,
  });
  await expect(recap.search('boats')).rejects.toMatchObject({ reason: 'STORE_OF_OTHER_USER' });

  const chat = recap.chat(id);
  const shown: unknown[] = [];
  onTestFinished(chat.subscribe(() => shown.push(...chat.state.transcript)));
  await expect.poll(() => chat.state.problem?.reason).toBe('STORE_OF_OTHER_USER');
  expect(shown).toEqual([]);
});

test('a title that was given while the conversation was read is newer than what was read', async () => {
  const reads: (() => void)[] = [];
  const recap = recapWith({
    fetch: async (url, init) => {
      if (init?.method === 'PATCH') return Response.json({});
      if (typeof url === 'string' && url.includes('/messages?'))
        return Response.json({ messages: [] });
      await new Promise<void>((resolve) => void reads.push(resolve));
      return Response.json({ title: 'Before' });
    },
  });
  const chat = recap.chat(crypto.randomUUID());
  const refreshed = chat.refresh();
  await expect.poll(() => reads.length).toBe(1);
  await chat.rename('After');
  reads[0]?.();
  await refreshed;

  expect(chat.state.title).toBe('After');
});

test('closing a client ends a stream of the list whose reply has not begun', async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const recap = recapWith({
    fetch: (_, init) => {
      signals.push(init?.signal);
      return new Promise(() => undefined);
    },
  });
  onTestFinished(recap.conversations.subscribe(() => undefined));
  await expect.poll(() => signals).toHaveLength(1);
  recap.close();

  expect(signals[0]?.aborted).toBe(true);
});

test('a client that is closed sends nothing, and keeps what is typed', async () => {
  const storage = memoryStore();
  let requests = 0;
  const recap = recapWith({
    storage,
    fetch: () => {
      requests += 1;
      return Promise.resolve(Response.json({}));
    },
  });
  recap.close();
  await recap.chat().send('Hello');

  await expect(recap.search('boats')).rejects.toMatchObject({ reason: 'OFFLINE' });
  expect(await storage.keys('outbox/')).toHaveLength(1);
  expect(requests).toBe(0);
});

test('what was to be kept before another user is seen is kept as it was', async () => {
  const kept = memoryStore();
  const written = Promise.withResolvers<void>();
  let user = 'ada';
  const recap = recapWith({
    getIdToken: () => Promise.resolve(tokenOf(user)),
    storage: {
      ...kept,
      set: async (key, value) => {
        if (key !== 'user') await written.promise;
        await kept.set(key, value);
      },
    },
    fetch: (url) =>
      Promise.resolve(
        typeof url === 'string' && url.includes('/messages?')
          ? Response.json({ messages: [] })
          : Response.json({ title: 'Of Ada' }),
      ),
  });
  const chat = recap.chat(crypto.randomUUID());
  onTestFinished(chat.subscribe(() => undefined));
  await expect.poll(() => chat.state.title).toBe('Of Ada');
  user = 'bob';
  await expect(recap.search('boats')).rejects.toMatchObject({ reason: 'STORE_OF_OTHER_USER' });
  written.resolve();

  await expect.poll(() => kept.get(`chat/${chat.id}`)).toContain('Of Ada');
});
