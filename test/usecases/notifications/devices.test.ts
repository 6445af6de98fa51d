import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath, devicePath, turnPath } from '#shared/conversation/documents/paths.ts';
import type { Write } from '#shared/ports/ports.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import { NOW, buildAnswered, endOf, notifyingWorker, pauseOf } from './notifying.ts';

type Fields = Extract<Write, { op: 'update' }>['fields'];

const update = (path: string, fields: Fields): Write => ({
  op: 'update',
  path,
  fields,
  guard: { exists: true },
});

type Worker = Awaited<ReturnType<typeof notifyingWorker>>;

/** A worker and an answered message of a user with these devices. */
async function answered(
  build: Parameters<typeof buildAnswered>[1] = {},
  worker: Parameters<typeof notifyingWorker>[0] = {},
) {
  const made = await notifyingWorker(worker);
  return { ...made, conversationId: await buildAnswered(made.bench, build) };
}

const tokensTold = ({ messaging }: Pick<Worker, 'messaging'>) =>
  messaging.sent().map(({ token }) => token);

test('an unwatched answer is sent to every device once, with what the app needs', async () => {
  const title = 'A trip to Jeju';
  const made = await answered({ built: { conversation: { title } } });
  const { messaging, deliver, conversationId } = made;
  const event = endOf(conversationId);

  const together = await Promise.all([deliver(event), deliver(event), deliver(event)]);
  const later = await deliver(event);

  expect(together).toContain(204);
  expect(later).toBe(204);
  expect(tokensTold(made).toSorted()).toEqual(['phone', 'tablet']);
  const ids = { conversationId, turnId: 't_1', messageId: 'm_1' };
  expect(messaging.sent()[0]).toMatchObject({
    notification: { title, body: 'Your answer is ready.' },
    data: { type: 'turn.finished', ...ids, state: 'done' },
  });
  expect(JSON.stringify(messaging.sent())).not.toMatch(/Question|Answer 1/);
});

describe('a turn that waits for the app', () => {
  const roundsOf = (count: number) => ({
    rounds: { count, step: 2 * count, frames: [], app: [0], usages: [] },
  });

  /** Turn 1 waits for ten minutes more, in its first round of calls, unless `fields` say otherwise. */
  async function waiting(fields: Fields = {}) {
    const made = await answered({ tokens: ['phone'] });
    const leaseUntil = new Date(NOW.getTime() + 10 * 60_000);
    const turn = { state: 'awaiting_tool', ...roundsOf(1), leaseUntil, ...fields };
    const path = turnPath(made.conversationId, 1);
    const set = (changes: Fields) => made.bench.store.commit([update(path, changes)]);
    await set(turn);
    return { ...made, set };
  }

  test('a waiting turn is notified once a round, for as long as it waits, and at its end', async () => {
    const { messaging, deliver, set, conversationId } = await waiting();

    await deliver(pauseOf(conversationId));
    await deliver(pauseOf(conversationId));
    await set(roundsOf(2));
    await deliver(pauseOf(conversationId, { round: 2 }));
    await set({ state: 'done' });
    await deliver(endOf(conversationId));

    const states = messaging.sent().map(({ data }) => data['state']);
    expect(states).toEqual(['awaiting_tool', 'awaiting_tool', 'done']);
    expect(messaging.sent()[0]).toMatchObject({
      notification: { body: 'Your answer waits for the app. Open the chat to go on.' },
      data: { type: 'turn.waiting', conversationId, turnId: 't_1', state: 'awaiting_tool' },
      android: { ttl: '600s' },
    });
  });

  test.each<[string, Fields]>([
    ['that goes on already', { state: 'running' }],
    ['that waits in another round', roundsOf(2)],
    ['that has waited long enough', { leaseUntil: NOW }],
    ['of a message that was edited', { replacedBy: { t_2: true } }],
  ])('a waiting turn is notified to nobody: one %s', async (_, fields) => {
    const { messaging, deliver, conversationId } = await waiting(fields);

    expect(await deliver(pauseOf(conversationId))).toBe(204);
    expect(messaging.calls()).toBe(0);
  });
});

test.each<[string, Parameters<typeof endOf>[1], 'head' | 'turn', Fields]>([
  ['of an answer that somebody waited for', { isAttended: true }, 'turn', {}],
  ['of an attempt that another one has followed', { attempt: 2 }, 'turn', {}],
  ['of a turn that is not there', { turnId: 't_9' }, 'turn', {}],
  ['of a turn that its user stopped', {}, 'turn', { state: 'cancelled' }],
  ['of a message that was edited', {}, 'turn', { replacedBy: { t_2: true } }],
  ['of a message that was erased', {}, 'turn', { eraseTime: new Date(0) }],
  ['of the day before', {}, 'turn', { finishTime: new Date('2026-01-01T03:00:00Z') }],
  ['in a conversation that was deleted', {}, 'head', { state: 'deleted' }],
  ['in a conversation that is being erased', {}, 'head', { state: 'erasing' }],
])('nobody is notified: %s', async (_, more, where, fields) => {
  const { bench, messaging, deliver, conversationId } = await answered();
  const path = where === 'head' ? conversationPath(conversationId) : turnPath(conversationId, 1);
  await bench.store.commit([update(path, fields)]);

  expect(await deliver(endOf(conversationId, more))).toBe(204);
  expect(messaging.calls()).toBe(0);
});

const noToken = 'The registration token is not a valid FCM registration token';
test.each([
  ['that has gone', { status: 404, code: 'UNREGISTERED' }, undefined],
  ['whose token is none', { status: 400, message: noToken }, undefined],
  ['of another project', { status: 403, code: 'SENDER_ID_MISMATCH' }, 'phone'],
])('a device %s is refused, and the others are notified', async (_, fault, left) => {
  const made = await answered();
  const { bench, messaging, deliver, conversationId } = made;
  messaging.refuse(fault, 'phone');

  expect(await deliver(endOf(conversationId))).toBe(204);

  expect(tokensTold(made)).toEqual(['tablet']);
  const paths = ['id-phone', 'id-tablet'].map((id) => devicePath('u1', id));
  const devices = await bench.store.get(paths);
  expect(devices.map((device) => device?.fields['token'])).toEqual([left, 'tablet']);
  const failures = bench.logged.filter(({ event }) => event === 'notification_failed');
  expect(failures).toHaveLength(left === undefined ? 0 : 1);
});

describe('an FCM that cannot be had', () => {
  test('an unavailable FCM is retried by redelivery, for the remaining devices alone', async () => {
    const made = await answered();
    const { bench, clock, messaging, deliver, conversationId } = made;
    messaging.refuse({ status: 503 }, 'phone');

    expect(await deliver(endOf(conversationId))).toBe(503);
    clock.advance(10_000);
    expect(await deliver(endOf(conversationId))).toBe(204);

    expect(tokensTold(made)).toEqual(['tablet', 'phone']);
    const [turn] = await readTurns(bench.store, conversationId, [1]);
    expect(turn?.value.notice).toMatchObject({ state: 'sent', told: [] });
  });

  test('an unavailable FCM is left alone for as long as it asks', async () => {
    const { clock, messaging, deliver, conversationId } = await answered({ tokens: ['phone'] });
    messaging.refuse({ status: 429, retryAfter: '90' });
    await deliver(endOf(conversationId));
    clock.advance(89_000);

    expect(await deliver(endOf(conversationId))).toBe(503);
    expect(messaging.calls()).toBe(1);
    clock.advance(1_000);
    expect(await deliver(endOf(conversationId))).toBe(204);
    expect(messaging.sent()).toHaveLength(1);
  });

  test.each([
    { refused: ['access-1'], status: 204, sent: 1 },
    { refused: ['access-1', 'access-2'], status: 503, sent: 0 },
  ])('FCM gets a new access token once a delivery: $refused refused', async (row) => {
    const { messaging, deliver, conversationId } = await answered({ tokens: ['phone'] });
    for (const token of row.refused) messaging.revoke(token);

    expect(await deliver(endOf(conversationId))).toBe(row.status);

    expect(messaging.calls()).toBe(2);
    expect(messaging.sent()).toHaveLength(row.sent);
  });
});

test('notifications follow the rules of commits, and log neither a token nor message text', async () => {
  const recorded = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
  const { bench, clock, messaging, deliver, conversationId } = await answered(
    {
      tokens: ['canary-token-1', 'canary-token-2', 'canary-token-3'],
      built: { turns: [{ answer: 'A canary sings.' }], conversation: { title: 'About a canary' } },
    },
    { bench: { store }, environment: { NOTIFICATION_TEXT: 'preview' } },
  );
  recorded.commits.length = 0;
  const refusal = { status: 503, message: 'canary-token-1 cannot be reached' };
  messaging.refuse(refusal, 'canary-token-1');
  messaging.refuse({ status: 404, code: 'UNREGISTERED' }, 'canary-token-2');

  await deliver(endOf(conversationId));
  clock.advance(10_000);
  await deliver(endOf(conversationId));

  // Claim, removal of the device that has gone, what is left; claim, the end.
  expect(recorded.commits).toHaveLength(5);
  expect(recorded.brokenRules()).toEqual([]);
  const notification = { title: 'About a canary', body: 'A canary sings.' };
  expect(messaging.sent()[0]?.notification).toEqual(notification);
  expect(bench.logged.map(({ event }) => event)).toContain('notification_sent');
  expect(JSON.stringify(bench.logged)).not.toMatch(/canary/i);
});
