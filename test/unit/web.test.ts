import type { Message, WireEvent } from '#clients/typescript/src/api.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { createSession, guestTokens } from '#web/api/session.ts';
import { createFirstWords } from '#web/state/first-words.ts';
import { phaseOf, toTurns, turnRemarks } from '#web/state/turns.ts';
import {
  emptyWireLog,
  EXCHANGES_KEPT,
  FRAMES_KEPT,
  isCut,
  recordWire,
} from '#web/state/wire-log.ts';
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect, test, afterEach } from 'vitest';

function memoryStorage(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('the page forgets the first words of the oldest of 201 untitled conversations', () => {
  const words = createFirstWords(memoryStorage());

  for (const index of upTo(201)) words.note(`c${index}`, `Hello ${index}`);

  expect([words.of('c0'), words.of('c1'), words.of('c200')]).toEqual([
    undefined,
    'Hello 1',
    'Hello 200',
  ]);
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** The token of the nth call. */
const tokenOf = (n: number): string => `id-${n}.${btoa(JSON.stringify({ sub: `guest-${n}` }))}.`;

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
            ? { id_token: tokenOf(n), refresh_token: refreshed, expires_in: '3600' }
            : { idToken: tokenOf(n), refreshToken: `refresh-${n}`, expiresIn: '3600' },
        ),
      );
    });
  });
  const { url, close } = await openServer(server);
  closers.push(close);
  return { calls, firebase: { apiKey: 'web-key', authUrl: url, tokenUrl: url } };
}

test('a guest is signed in once for parallel calls, and remembered by the refresh token', async () => {
  const { calls, firebase } = await startSignIn();
  const storage = memoryStorage();
  const token = guestTokens({ firebase, storage, fetch, now: () => 0 });

  const tokens = await Promise.all([token(false), token(false)]);

  expect(tokens).toEqual([tokenOf(1), tokenOf(1)]);
  expect(calls).toEqual(['/v1/accounts:signUp web-key']);
  expect(storage.getItem('recap.refreshToken')).toBe('refresh-1');
});

test('a guest whose refresh token is refused is a new user', async () => {
  const { calls, firebase } = await startSignIn();
  const storage = memoryStorage({ 'recap.refreshToken': 'revoked' });
  const token = guestTokens({ firebase, storage, fetch, now: () => 0 });

  expect(await token(false)).toBe(tokenOf(2));
  expect(calls).toEqual(['/v1/token web-key', '/v1/accounts:signUp web-key']);
});

test('a guest gets another token before the hour is over', async () => {
  const { firebase } = await startSignIn(['refresh-1']);
  const clock = { now: 0 };
  const storage = memoryStorage();
  const token = guestTokens({ firebase, storage, fetch, now: () => clock.now });
  await token(false);

  clock.now = 3_590_000;

  expect(await token(false)).toBe(tokenOf(2));
});

test('a guest who comes back is known without a network', async () => {
  const { firebase } = await startSignIn();
  const storage = memoryStorage();
  const first = await createSession({ chatUrl: '', firebase }, storage, () => undefined);
  const dead = { ...firebase, tokenUrl: 'http://127.0.0.1:1' };

  const second = await createSession({ chatUrl: '', firebase: dead }, storage, () => undefined);

  expect([first.uid, second.uid]).toEqual(['guest-1', 'guest-1']);
  await expect(second.token(false)).rejects.toThrow('fetch failed');
});

test('a page whose guest is no longer known begins anew as another one', async () => {
  const { firebase } = await startSignIn();
  const storage = memoryStorage();
  const restarts: (string | null)[] = [];
  const restart = () => restarts.push(storage.getItem('recap.uid'));
  const session = await createSession({ chatUrl: '', firebase }, storage, restart);

  await expect(session.token(true)).rejects.toThrow('another guest');

  expect(restarts).toEqual(['guest-3']);
});

/** A message of a conversation as the client shows it. */
const message = (role: 'user' | 'model', seq: number, is: Partial<Message> = {}): Message => ({
  id: `${role}-${seq}`,
  role,
  seq,
  state: role === 'user' ? 'sent' : 'done',
  parts: [],
  text: '',
  time: '2026-01-02T03:04:05.000Z',
  ...is,
});

const pair = (seq: number, user: Partial<Message> = {}, answer: Partial<Message> = {}) => [
  message('user', seq, user),
  message('model', seq, answer),
];

const outOf = (reason: NonNullable<Message['outOfContext']>['reason'], replacedBy?: string) => ({
  outOfContext: { reason, ...(replacedBy !== undefined && { replacedBy }) },
});

test.each([
  ['nothing of an answer as others', {}, {}, []],
  ['nothing of one that waits for the app', outOf('awaiting_tool'), { state: 'waiting' }, []],
  ['that it was stopped', {}, { state: 'stopped' }, ['stopped']],
  ['that there is none', outOf('failed'), { state: 'failed' }, ['failed']],
  ['that it was cut', {}, { finishReason: 'length' }, ['length']],
  [
    'that the filter ended it, and who sees it',
    outOf('filtered'),
    { finishReason: 'content-filter' },
    ['contentFilter', 'notInContext'],
  ],
  ['of an erased message nothing else', { isDeleted: true, ...outOf('deleted') }, {}, ['deleted']],
] satisfies [string, Partial<Message>, Partial<Message>, string[]][])(
  'a turn’s remark says %s',
  (_, user, answer, kinds) => {
    const transcript = pair(1, user, answer);

    const remarks = toTurns({ transcript, messages: transcript }).flatMap(turnRemarks);

    expect(remarks.map(({ kind }) => kind)).toEqual(kinds);
  },
);

test('a turn that an edit replaced names the turn in its place, also before the edit is sent', () => {
  const told = pair(1, outOf('replaced', 't_3'));
  const streamed = pair(2);
  const present = pair(3);
  const edited = pair(4);
  const edit = message('user', 5, { id: 'edit', seq: undefined, state: 'pending' });

  const turns = toTurns({
    transcript: [...told, ...streamed, ...present, ...edited, edit],
    messages: [...present, edit],
  });

  expect(turns.map(({ replacedBy }) => replacedBy)).toEqual([3, 3, undefined, Infinity, undefined]);
});

test('an answer whose connection is cut shows that it goes on', () => {
  const transcript = pair(1, {}, { state: 'running', parts: [{ type: 'text', text: 'He' }] });

  const turns = toTurns({ transcript, messages: transcript });

  expect(turns.map((turn) => phaseOf(turn, true))).toEqual(['reconnecting']);
  expect(turns.map((turn) => phaseOf(turn, false))).toEqual(['streaming']);
});

test.each([
  ['is sent', { state: 'pending', seq: undefined }, false, 'sending'],
  ['waits for the service', { state: 'pending', seq: undefined }, true, 'unsent'],
  ['was refused', { state: 'failed', seq: undefined }, false, 'refused'],
] satisfies [string, Partial<Message>, boolean, string][])(
  'a message shows that it %s',
  (_, user, isDown, phase) => {
    const transcript = [message('user', 1, user)];

    const phases = toTurns({ transcript, messages: transcript }).map((turn) =>
      phaseOf(turn, isDown),
    );

    expect(phases).toEqual([phase]);
  },
);

const URL_OF_CHAT = 'http://127.0.0.1:1/v1/conversations/c';
const request = (exchange: number, path = '/messages'): WireEvent => ({
  kind: 'request',
  exchange,
  at: 1_000,
  method: path === '/messages' ? 'POST' : 'GET',
  url: URL_OF_CHAT + path,
  body: undefined,
});
const frame = (exchange: number, id: number): WireEvent => ({
  kind: 'event',
  exchange,
  at: 1_050,
  id: String(id),
  data: '{"type":"text-delta","id":"p0","delta":"ü"}',
});
const record = (events: readonly WireEvent[]) => events.reduce(recordWire, emptyWireLog);

test('the wire log forgets the oldest requests and events beyond its bounds', () => {
  const more = 5;
  const log = record([
    ...Array.from({ length: EXCHANGES_KEPT + more }, (_, i) => request(i)),
    ...Array.from({ length: FRAMES_KEPT + more }, (_, i) => frame(EXCHANGES_KEPT, i)),
  ]);

  expect(log.exchanges).toHaveLength(EXCHANGES_KEPT);
  expect(log.exchanges[0]?.exchange).toBe(more);
  expect(log.frames).toHaveLength(FRAMES_KEPT);
  expect(log.frames[0]?.id).toBe(more);
});

test.each([
  ['when its stream breaks', [request(1), { kind: 'end', problem: 'cut' }], true],
  ['not while it is read', [request(1), { kind: 'response', code: 200 }], false],
  ['not when it has ended', [request(1), { kind: 'end' }], false],
  ['when the service is down', [request(1), { kind: 'response', code: 503 }], true],
  [
    'not when its rest is read',
    [request(1), { kind: 'end', problem: 'cut' }, request(2, '/turns/t_1/stream')],
    false,
  ],
] as const)('an answer counts as cut %s', (_, steps, expected) => {
  const log = record(steps.map((step) => ({ exchange: 1, at: 1_000, ...step })));

  expect(isCut(log, 'c')).toBe(expected);
});
