import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath, devicePath, turnPath } from '#shared/conversation/documents/paths.ts';
import type { Write } from '#shared/ports/ports.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import {
  NOW,
  addDevice,
  buildAnswered,
  endOf,
  notifyingWorker,
  pauseOf,
} from '#test/support/notifying.ts';

const update = (path: string, fields: Extract<Write, { op: 'update' }>['fields']): Write => ({
  op: 'update',
  path,
  fields,
  guard: { exists: true },
});

/** What the turn says of who was told. */
const noticeOf = async (
  store: Parameters<typeof readTurns>[0],
  conversationId: string,
): Promise<unknown> => (await readTurns(store, conversationId, [1]))[0]?.value.notice;

describe('an answer that nobody waited for', () => {
  test('an unwatched answer is sent to every device once, with what the app needs', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, {
      built: { conversation: { title: 'A trip to Jeju' } },
    });

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(
      messaging
        .sent()
        .map(({ token }) => token)
        .toSorted(),
    ).toEqual(['phone', 'tablet']);
    expect(messaging.sent()[0]).toMatchObject({
      notification: { title: 'A trip to Jeju', body: 'Your answer is ready.' },
      data: {
        type: 'turn.finished',
        conversationId,
        turnId: 't_1',
        messageId: 'm_1',
        state: 'done',
      },
    });
    expect(JSON.stringify(messaging.sent())).not.toMatch(/Question|Answer 1/);
  });

  test('an unwatched answer is sent in the language of each device', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: [] });
    await addDevice(bench.store, { uid: 'u1', id: 'a', token: 'ja', locale: 'ja-JP' });
    await addDevice(bench.store, { uid: 'u1', id: 'b', token: 'ko', locale: 'ko' });

    await deliver(endOf(conversationId));

    const bodies = messaging.sent().map(({ token, notification }) => [token, notification.body]);
    expect(Object.fromEntries(bodies)).toEqual({
      ja: '回答ができました。',
      ko: '답변이 준비되었습니다.',
    });
  });

  test('an unwatched answer’s notification shows its beginning where the deployment enables it', async () => {
    const { bench, messaging, deliver } = await notifyingWorker({
      environment: { NOTIFICATION_TEXT: 'preview' },
    });
    const answer = `The ferry\nleaves at nine. ${'It is a long way. '.repeat(20)}`;
    const conversationId = await buildAnswered(bench, { built: { turns: [{ answer }] } });

    await deliver(endOf(conversationId));

    const { body } = messaging.sent()[0]?.notification ?? {};
    expect(body).toMatch(/^The ferry leaves at nine\. It is .*…$/);
    expect(body).toHaveLength(120);
  });

  test('an unwatched answer is sent again when a later attempt of its turn ends', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, {
      tokens: ['phone'],
      built: { turns: [{ state: 'failed' }] },
    });
    await deliver(endOf(conversationId, { state: 'failed' }));
    await bench.store.commit([
      update(turnPath(conversationId, 1), { state: 'done', attempt: 2, answerJson: '[]' }),
    ]);

    await deliver(endOf(conversationId, { attempt: 2 }));

    expect(messaging.sent().map(({ data }) => data['state'])).toEqual(['failed', 'done']);
  });
});

describe('a turn that waits for the app', () => {
  const MINUTE_MS = 60_000;

  /** Turn 1 waits for ten minutes more, in this round of calls. */
  async function waiting(round = 1, fields: Extract<Write, { op: 'update' }>['fields'] = {}) {
    const worker = await notifyingWorker();
    const conversationId = await buildAnswered(worker.bench, { tokens: ['phone'] });
    const rounds = { count: round, step: 2 * round, frames: [], app: [0], usages: [] };
    const leaseUntil = new Date(NOW.getTime() + 10 * MINUTE_MS);
    await worker.bench.store.commit([
      update(turnPath(conversationId, 1), {
        state: 'awaiting_tool',
        rounds,
        leaseUntil,
        ...fields,
      }),
    ]);
    return { ...worker, conversationId };
  }

  test('a waiting turn is notified once, for as long as it waits', async () => {
    const { messaging, deliver, conversationId } = await waiting();

    expect(await deliver(pauseOf(conversationId))).toBe(204);
    expect(await deliver(pauseOf(conversationId))).toBe(204);

    expect(messaging.sent()).toHaveLength(1);
    expect(messaging.sent()[0]).toMatchObject({
      notification: { body: 'Your answer waits for the app. Open the chat to go on.' },
      data: { type: 'turn.waiting', conversationId, turnId: 't_1', state: 'awaiting_tool' },
      android: { ttl: '600s' },
    });
  });

  test('a waiting turn is notified again in a later round, and at its end', async () => {
    const { bench, messaging, deliver, conversationId } = await waiting();
    const path = turnPath(conversationId, 1);
    await deliver(pauseOf(conversationId));
    await bench.store.commit([
      update(path, { rounds: { count: 2, step: 4, frames: [], app: [1], usages: [] } }),
    ]);
    await deliver(pauseOf(conversationId, { round: 2 }));
    await bench.store.commit([update(path, { state: 'done' })]);
    await deliver(endOf(conversationId));

    expect(messaging.sent().map(({ data }) => data['state'])).toEqual([
      'awaiting_tool',
      'awaiting_tool',
      'done',
    ]);
  });

  test.each<[string, number, Extract<Write, { op: 'update' }>['fields']]>([
    ['that goes on already', 1, { state: 'running' }],
    ['that has ended', 1, { state: 'done' }],
    ['that waits in another round', 2, {}],
    ['that has waited long enough', 1, { leaseUntil: NOW }],
    ['of a message that was edited', 1, { replacedBy: { t_2: true } }],
  ])('a waiting turn is notified to nobody: one %s', async (_, round, fields) => {
    const { messaging, deliver, conversationId } = await waiting(round, fields);

    expect(await deliver(pauseOf(conversationId))).toBe(204);

    expect(messaging.calls()).toBe(0);
  });
});

describe('nobody is notified', () => {
  test.each([
    ['of an answer that somebody waited for', { isAttended: true }],
    ['of an attempt that another one has followed', { attempt: 2 }],
    ['of a turn that is not there', { turnId: 't_9' }],
  ])('nobody is notified: %s', async (_, more) => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench);

    expect(await deliver(endOf(conversationId, more))).toBe(204);

    expect(messaging.calls()).toBe(0);
  });

  test.each<[string, 'head' | 'turn', Extract<Write, { op: 'update' }>['fields']]>([
    ['of a turn that its user stopped', 'turn', { state: 'cancelled' }],
    ['of a message that was edited', 'turn', { replacedBy: { t_2: true } }],
    ['of a message that was erased', 'turn', { eraseTime: new Date(0) }],
    ['of an answer of the day before', 'turn', { finishTime: new Date('2026-01-01T03:00:00Z') }],
    ['in a conversation that was deleted', 'head', { state: 'deleted' }],
    ['in a conversation that is being erased', 'head', { state: 'erasing' }],
  ])('nobody is notified by the stored state: %s', async (_, where, fields) => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench);
    const path = where === 'head' ? conversationPath(conversationId) : turnPath(conversationId, 1);
    await bench.store.commit([update(path, fields)]);

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(messaging.calls()).toBe(0);
  });

  test('a user without devices gets no notification, and nothing is written', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: [] });

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(messaging.calls()).toBe(0);
    expect(await noticeOf(bench.store, conversationId)).toBeUndefined();
  });
});

test('an answer erased while its notification is sent stays erased', async () => {
  const conversationId = randomUUID();
  const { bench, messaging, deliver } = await notifyingWorker();
  const { notifier } = bench;
  if (!notifier) throw new Error('no notifier');
  const erasing = await notifyingWorker({
    bench: {
      store: bench.store,
      notifier: {
        send: async (to, signal) => {
          await bench.store.deleteBelow(conversationPath(conversationId));
          await bench.store.commit([{ op: 'delete', path: conversationPath(conversationId) }]);
          return notifier.send(to, signal);
        },
      },
    },
  });
  await buildAnswered(bench, { tokens: ['phone'], built: { conversationId } });

  expect(await erasing.deliver(endOf(conversationId))).toBe(204);

  expect(messaging.sent()).toHaveLength(1);
  expect(await bench.store.get([turnPath(conversationId, 1)])).toEqual([undefined]);
  expect(await deliver(endOf(conversationId))).toBe(204);
});

describe('a device', () => {
  test.each([
    ['that has gone', { status: 404, code: 'UNREGISTERED' }],
    [
      'whose token is none',
      { status: 400, message: 'The registration token is not a valid FCM registration token' },
    ],
  ])('a device with %s is removed, and the others are notified', async (_, fault) => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench);
    messaging.refuse(fault, 'phone');

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(messaging.sent().map(({ token }) => token)).toEqual(['tablet']);
    const paths = ['id-phone', 'id-tablet'].map((id) => devicePath('u1', id));
    expect((await bench.store.get(paths)).map((device) => device?.fields['token'])).toEqual([
      undefined,
      'tablet',
    ]);
  });

  test('a device whose token changed meanwhile stays', async () => {
    const { bench, messaging } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: ['phone'] });
    const path = devicePath('u1', 'id-phone');
    const { deliver } = await notifyingWorker({
      bench: {
        store: bench.store,
        notifier: {
          send: async () => {
            await bench.store.commit([update(path, { token: 'new' })]);
            return 'gone';
          },
        },
      },
    });

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect((await bench.store.get([path]))[0]?.fields['token']).toBe('new');
    expect(messaging.calls()).toBe(0);
  });

  test('a device of another project is kept, and the operator is told', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: ['phone'] });
    messaging.refuse({ status: 403, code: 'SENDER_ID_MISMATCH' });

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(await bench.store.get([devicePath('u1', 'id-phone')])).not.toEqual([undefined]);
    expect(bench.logged).toContainEqual({
      severity: 'ERROR',
      event: 'notification_failed',
      fields: { reason: 'NOTIFICATION_REFUSED', code: 'SENDER_ID_MISMATCH' },
    });
  });
});

describe('an FCM that cannot be had', () => {
  test('an unavailable FCM is retried by redelivery, for the remaining devices alone', async () => {
    const { bench, clock, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench);
    messaging.refuse({ status: 503 }, 'phone');

    expect(await deliver(endOf(conversationId))).toBe(503);
    clock.advance(10_000);
    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(messaging.sent().map(({ token }) => token)).toEqual(['tablet', 'phone']);
    expect(await noticeOf(bench.store, conversationId)).toMatchObject({ state: 'sent', told: [] });
  });

  test('an unavailable FCM is left alone for as long as it asks', async () => {
    const { bench, clock, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: ['phone'] });
    messaging.refuse({ status: 429, retryAfter: '90' });
    await deliver(endOf(conversationId));
    clock.advance(89_000);

    expect(await deliver(endOf(conversationId))).toBe(503);
    expect(messaging.calls()).toBe(1);
    clock.advance(1_000);
    expect(await deliver(endOf(conversationId))).toBe(204);
    expect(messaging.sent()).toHaveLength(1);
  });

  test('FCM gets a new access token once when it refuses the first', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: ['phone'] });
    messaging.revoke('access-1');

    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(messaging.calls()).toBe(2);
    expect(messaging.sent()).toHaveLength(1);
  });

  test('an FCM that refuses every access token is called twice a delivery', async () => {
    const { bench, messaging, deliver } = await notifyingWorker();
    const conversationId = await buildAnswered(bench, { tokens: ['phone'] });
    messaging.revoke('access-1');
    messaging.revoke('access-2');

    expect(await deliver(endOf(conversationId))).toBe(503);

    expect(messaging.calls()).toBe(2);
  });
});

test('a worker that dies after sending sends again under the same key', async () => {
  const { bench, clock, messaging, deliver } = await notifyingWorker();
  const conversationId = await buildAnswered(bench, { tokens: ['phone'] });
  const { notifier } = bench;
  if (!notifier) throw new Error('no notifier');
  const dying = await notifyingWorker({
    bench: {
      store: bench.store,
      notifier: {
        send: async (to, signal) => {
          await notifier.send(to, signal);
          throw new TypeError('the process ends here');
        },
      },
    },
  });

  expect(await dying.deliver(endOf(conversationId))).toBe(500);
  expect(await deliver(endOf(conversationId))).toBe(503);
  clock.advance(45_000);
  expect(await deliver(endOf(conversationId))).toBe(204);

  const keys = messaging.sent().map(({ android }) => android.collapse_key);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
});

test('every commit of notifications follows the document rules', async () => {
  const recorded = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
  const { bench, clock, messaging, deliver } = await notifyingWorker({ bench: { store } });
  const conversationId = await buildAnswered(bench);
  recorded.commits.length = 0;
  messaging.refuse({ status: 503 }, 'phone');
  messaging.unregister('tablet');

  await deliver(endOf(conversationId));
  clock.advance(10_000);
  await deliver(endOf(conversationId));

  // Claim, removal of the tablet, what is left; claim, the end.
  expect(recorded.commits).toHaveLength(5);
  expect(recorded.brokenRules()).toEqual([]);
});

test('notifications log neither a token nor message text', async () => {
  const { bench, messaging, deliver } = await notifyingWorker({
    environment: { NOTIFICATION_TEXT: 'preview' },
  });
  const conversationId = await buildAnswered(bench, {
    tokens: ['canary-token-1', 'canary-token-2', 'canary-token-3'],
    built: { turns: [{ answer: 'A canary sings.' }], conversation: { title: 'About a canary' } },
  });
  messaging.refuse({ status: 503, message: 'canary-token-1 cannot be reached' }, 'canary-token-1');
  messaging.unregister('canary-token-2');

  await deliver(endOf(conversationId));

  expect(messaging.sent()[0]?.notification).toEqual({
    title: 'About a canary',
    body: 'A canary sings.',
  });
  expect(bench.logged.map(({ event }) => event)).toContain('notification_sent');
  expect(JSON.stringify(bench.logged)).not.toMatch(/canary/i);
});
