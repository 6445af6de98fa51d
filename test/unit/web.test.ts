import {
  withPage,
  type TurnPages,
  type StoredTurn,
  turnRemarks,
  withoutReplaced,
} from '#web/state/transcript.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { InboxEntryView } from '#shared/wire/resources/inbox.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import { createChatApi } from '#web/api/chat-api.ts';
import type { WireEvent } from '#web/api/requester.ts';
import { guestSession } from '#web/api/session.ts';
import { createFirstWords } from '#web/state/first-words.ts';
import { WATCH_MS, watchPaceMs } from '#web/state/context-state.ts';
import { createInbox } from '#web/state/inbox.ts';
import { applyFrame, beginLiveTurn, partsText } from '#web/state/live-turn.ts';
import { emptyWireLog, EXCHANGES_KEPT, FRAMES_KEPT, recordWire } from '#web/state/wire-log.ts';
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect, test, afterEach, describe } from 'vitest';

const memory = () => {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
};

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('the page forgets the least recently viewed of seventeen transcript pages', () => {
  const pages = upTo(17).reduce<TurnPages>((known, page) => withPage(known, page, []), new Map());

  expect([pages.size, pages.has(0), pages.has(16)]).toEqual([16, false, true]);
});

test('the page forgets the first words of the oldest of 201 untitled conversations', () => {
  const words = createFirstWords(memory());

  for (const index of upTo(201)) words.note(`c${index}`, `Hello ${index}`);

  expect([words.of('c0'), words.of('c1'), words.of('c200')]).toEqual([
    undefined,
    'Hello 1',
    'Hello 200',
  ]);
});

describe('the list of conversations', () => {
  const row = (id: string, is: Partial<InboxEntryView> = {}): InboxEntryView => ({
    id,
    metadata: {},
    archived: false,
    pinned: false,
    state: 'idle',
    lastSeq: 1,
    readSeq: 1,
    unreadCount: 0,
    createTime: '2026-01-02T03:04:05.000Z',
    activeTime: '2026-01-02T03:04:05.000Z',
    ...is,
  });
  const told = (conversation: InboxEntryView): UserEvent => ({
    type: 'conversation',
    conversation,
  });

  /** A list whose pages come when the test lets them. */
  function startInbox() {
    const page = Promise.withResolvers<InboxEntryView[]>();
    const api = createChatApi({
      json: async <T>() => ({ conversations: await page.promise }) as T,
      stream: () => Promise.reject(new Error('no stream')),
      events: async function* events() {},
    });
    return { page, inbox: createInbox(api, createFirstWords(memory())) };
  }
  const titlesOf = ({ entries }: ReturnType<typeof createInbox>) =>
    entries.value.map(({ id, title }) => title ?? id);

  test('an event that comes while the list is read wins over what the page says', async () => {
    const { page, inbox } = startInbox();

    const ready = inbox.apply({ type: 'ready' });
    const renamed = inbox.apply(told(row('a', { title: 'New' })));
    page.resolve([row('a', { title: 'Old' }), row('b')]);
    await Promise.all([ready, renamed]);

    expect(titlesOf(inbox)).toEqual(['New', 'b']);
  });

  test('the list has the pinned conversations first, then those with the newest message', async () => {
    const { inbox } = startInbox();

    await inbox.apply(told(row('old')));
    await inbox.apply(told(row('new', { activeTime: '2026-03-02T03:04:05.000Z' })));
    await inbox.apply(
      told(row('pinned', { pinned: true, activeTime: '2025-01-01T00:00:00.000Z' })),
    );
    await inbox.apply(told(row('archived', { archived: true })));
    await inbox.apply(told(row('deleted', { deleteTime: '2026-03-02T03:04:05.000Z' })));

    expect(titlesOf(inbox)).toEqual(['pinned', 'new', 'old']);
  });

  test('a list that has to be read anew forgets what is not in it any more', async () => {
    const { page, inbox } = startInbox();
    await inbox.apply(told(row('gone')));
    page.resolve([row('a')]);

    await inbox.apply({ type: 'reset' });

    expect(titlesOf(inbox)).toEqual(['a']);
  });
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Answers as Identity Toolkit and Secure Token do, and counts the sign-ins. */
async function startSignIn(known: readonly string[] = []) {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      const refreshed = new URLSearchParams(body).get('refresh_token') ?? '';
      calls.push(`${pathname} ${searchParams.get('key')}`);
      const isRefusal = pathname === '/v1/token' && !known.includes(refreshed);
      const n = calls.length;
      response.writeHead(isRefusal ? 400 : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          pathname === '/v1/token'
            ? { id_token: `id-${n}`, refresh_token: refreshed, expires_in: '3600' }
            : { idToken: `id-${n}`, refreshToken: `refresh-${n}`, expiresIn: '3600' },
        ),
      );
    });
  });
  const { url, close } = await openServer(server);
  closers.push(close);
  return { calls, firebase: { apiKey: 'web-key', authUrl: url, tokenUrl: url } };
}

function memoryStorage(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
}

describe('a guest', () => {
  test('a guest is signed in once for parallel calls, and remembered by the refresh token', async () => {
    const { calls, firebase } = await startSignIn();
    const storage = memoryStorage();
    const session = guestSession({ firebase, storage, fetch, now: () => 0 });

    const tokens = await Promise.all([session.token(), session.token()]);

    expect(tokens).toEqual(['id-1', 'id-1']);
    expect(calls).toEqual(['/v1/accounts:signUp web-key']);
    expect(storage.getItem('recap.refreshToken')).toBe('refresh-1');
  });

  test('a guest whose refresh token is refused is a new user', async () => {
    const { calls, firebase } = await startSignIn();
    const storage = memoryStorage({ 'recap.refreshToken': 'revoked' });
    const session = guestSession({ firebase, storage, fetch, now: () => 0 });

    expect(await session.token()).toBe('id-2');
    expect(calls).toEqual(['/v1/token web-key', '/v1/accounts:signUp web-key']);
  });

  test('a guest gets another token before the hour is over', async () => {
    const { firebase } = await startSignIn(['refresh-1']);
    const clock = { now: 0 };
    const storage = memoryStorage();
    const session = guestSession({ firebase, storage, fetch, now: () => clock.now });
    await session.token();

    clock.now = 3_590_000;

    expect(await session.token()).toBe('id-2');
  });
});

const message = (role: 'user' | 'model', seq: number, is: Partial<MessageView>): MessageView => ({
  id: `${role}-${seq}`,
  turnId: `t_${seq}`,
  seq,
  role,
  parts: [],
  state: 'done',
  createTime: '2026-01-02T03:04:05.000Z',
  inContext: true,
  ...is,
});

const storedTurn = (seq: number, is: Partial<MessageView> = {}): StoredTurn => ({
  seq,
  user: message('user', seq, is),
  answer: message('model', seq, is),
});

const pagesOf = (...turns: StoredTurn[]): TurnPages => new Map([[0, turns]]);

test.each([
  ['nothing of an answer as others', {}, []],
  ['nothing of one that waits for the app', { state: 'awaiting_tool', inContext: false }, []],
  ['that it was stopped', { state: 'cancelled' }, ['stopped']],
  ['that there is none', { state: 'failed', inContext: false }, ['failed']],
  ['that it was cut', { finishReason: 'length' }, ['length']],
  ['that it repeated itself', { loop: 'text', finishReason: 'other' }, ['loop']],
  [
    'that the filter ended it, and who sees it',
    { finishReason: 'content-filter', inContext: false },
    ['contentFilter', 'notInContext'],
  ],
  ['of an erased message nothing else', { deleted: true, inContext: false }, ['deleted']],
] as const)('a turn’s remark says %s', (_, is, kinds) => {
  const stored = storedTurn(1, is);

  const remarks = turnRemarks(stored, pagesOf(stored));

  expect(remarks.map(({ kind }) => kind)).toEqual(kinds);
});

test('a new turn removes the replaced one from the context, and nothing before it', () => {
  const pages = pagesOf(
    storedTurn(1),
    storedTurn(2),
    storedTurn(3),
    storedTurn(4, { replaces: 2 }),
  );

  const after = [...withoutReplaced(pages, 4).values()].flat();

  expect(after.map(({ user, answer }) => [user?.inContext, answer?.inContext])).toEqual([
    [true, true],
    [false, false],
    [false, false],
    [true, true],
  ]);
});

const request = (exchange: number, at = 1_000): WireEvent => ({
  kind: 'request',
  exchange,
  at,
  accept: 'text/event-stream',
  url: 'http://127.0.0.1:1/v1/conversations/c/messages?pageSize=2',
  call: { method: 'POST', path: '/v1/conversations/c/messages', body: { message: 'ü' } },
});
const frame = (exchange: number, id: number, at = 1_050): WireEvent => ({
  kind: 'frame',
  exchange,
  at,
  frame: { id, chunk: { type: 'text-delta', id: 'p0', delta: 'ü' } },
});
const record = (events: readonly WireEvent[]) => events.reduce(recordWire, emptyWireLog);

test('the wire log forgets the oldest requests and events beyond its bounds', () => {
  const more = 5;
  const log = record([
    ...Array.from({ length: EXCHANGES_KEPT + more }, (_, i) => request(i)),
    ...Array.from({ length: FRAMES_KEPT + more }, (_, i) => frame(1, i)),
  ]);

  expect(log.exchanges).toHaveLength(EXCHANGES_KEPT);
  expect(log.exchanges[0]?.exchange).toBe(more);
  expect(log.frames).toHaveLength(FRAMES_KEPT);
  expect(log.frames[0]?.id).toBe(more);
});

const context: ContextObject = {
  tokens: 1_000,
  thresholdTokens: 2_000,
  windowTokens: 1_000_000,
  percent: 0.1,
  source: 'reported',
  generation: 1,
  compaction: null,
};
const over: ContextObject = { ...context, tokens: 2_000 };
const under = (state: string): ContextObject => ({ ...over, compaction: { state, jobId: 'j' } });

test.each([
  ['no more below the threshold', context, 0, undefined],
  ['often when the threshold was just crossed', over, 14_999, 'moving'],
  ['no more over the threshold where nothing comes of it', over, 15_000, undefined],
  ['often while a compaction runs', under('RUNNING'), 59_999, 'moving'],
  ['less often where one waits for another try', under('QUEUED'), 60_000, 'waiting'],
  ['not where nothing is known', undefined, 0, undefined],
] as const)('the page looks at the context %s', (...[, known, unchangedMs, pace]) => {
  expect(watchPaceMs(known, unchangedMs)).toBe(pace && WATCH_MS[pace]);
});

const begun = beginLiveTurn({ kind: 'send', messageId: 'm', text: 'Hello' });

const start: StreamChunk = {
  type: 'start',
  messageId: 'm_7',
  messageMetadata: { turnId: 't_7', conversationId: 'c', generation: 0, replayed: false },
};
const delta = (text: string, id = 'p0'): StreamChunk => ({ type: 'text-delta', id, delta: text });
const finish = (finishReason: 'stop' | 'error'): StreamChunk => ({
  type: 'finish',
  finishReason,
  messageMetadata: { generation: 0 },
});

const after = (...chunks: StreamChunk[]) =>
  chunks.reduce((turn, chunk, id) => applyFrame(turn, { id, chunk }), begun);

describe('an answer after its events', () => {
  test.each([
    ['nothing yet', [], 'sending', ''],
    ['the start', [start], 'waiting', ''],
    ['text', [start, delta('Hel'), delta('lo')], 'streaming', 'Hello'],
    ['two parts', [start, delta('One'), delta('Two', 'p1')], 'streaming', 'One\n\nTwo'],
    ['the end', [start, delta('Hello'), finish('stop')], 'done', 'Hello'],
    ['a stop', [start, delta('He'), { type: 'abort' }, finish('stop')], 'stopped', 'He'],
    ['an error', [start, { type: 'error', errorText: 'no' }, finish('error')], 'failed', ''],
  ] satisfies [string, StreamChunk[], string, string][])(
    'an answer after its events: %s',
    (...[, chunks, phase, text]) => {
      const turn = after(...chunks);

      expect([turn.phase, partsText(turn.parts)]).toEqual([phase, text]);
    },
  );

  test('an answer drops the text of an abandoned attempt', () => {
    const restarted: StreamChunk = {
      type: 'data-notice',
      id: 'restarted-2',
      data: { kind: 'restarted', dropParts: ['p0'] },
    };

    const turn = after(start, delta('Wrong'), restarted, delta('Right', 'p1'));

    expect(partsText(turn.parts)).toBe('Right');
  });
});
