import { deleteDevice, listDevices, putDevice } from '#functions/chat/features/devices.ts';
import { deviceListResponse, deviceResponse } from '#shared/wire/resources/devices.ts';
import { errorOf, startChatServer, readAs } from '#test/support/chat/chat-server.ts';
import { CANARY, canaries, lifecycle, owner, erase } from '#test/support/chat/lifecycle.ts';
import { idTokenClaims } from '../support/token-keys.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const signedInOwner = { ...owner, signedInAt: new Date(0) };

const chat = await startChatServer();
afterAll(() => chat.stop());

const newUser = () => `user-${randomUUID()}`;
const LIST = '/v1/users/me/devices';
const put = (uid: string, deviceId: string, body: unknown) =>
  chat.call(`${LIST}/${deviceId}`, { method: 'PUT', uid, body });
const remove = (uid: string, deviceId: string) =>
  chat.call(`${LIST}/${deviceId}`, { method: 'DELETE', uid });
const list = async (uid: string) =>
  (await readAs(deviceListResponse, await chat.call(LIST, { uid }))).devices;
const phone = (token: string) => ({ token, platform: 'ios' });

test('a device is put, renewed, read and removed by its id', async () => {
  const uid = newUser();

  const made = await put(uid, 'phone', phone('t1'));
  const renewed = await put(uid, 'phone', { token: 't2', platform: 'android' });

  expect([made.status, renewed.status]).toEqual([201, 200]);
  const device = await readAs(deviceResponse, renewed);
  expect(device).toMatchObject({ id: 'phone', platform: 'android' });
  const read = await chat.call(`${LIST}/phone`, { uid });
  expect(await readAs(deviceResponse, read)).toEqual(device);
  expect(await list(uid)).toEqual([device]);
  expect([(await remove(uid, 'phone')).status, (await remove(uid, 'phone')).status]).toEqual([
    204, 204,
  ]);
  const gone = await chat.call(`${LIST}/phone`, { uid });
  expect(await errorOf(gone)).toMatchObject({ http: 404, reason: 'DEVICE_NOT_FOUND' });
});

test('a deleted device does not come back with a late copy, but with a new token or sign-in', async () => {
  const uid = newUser();
  const first = phone('t1');
  await put(uid, 'phone', first);
  await remove(uid, 'phone');

  const late = await put(uid, 'phone', first);
  const another = await put(uid, 'tablet', first);
  const now = Math.floor(Date.now() / 1_000);
  const token = await chat.keys.sign(
    idTokenClaims(chat.project, uid, { auth_time: now, iat: now }),
  );
  const signedIn = await chat.call(`${LIST}/phone`, { method: 'PUT', token, body: first });
  await remove(uid, 'phone');
  const renewed = await put(uid, 'phone', phone('t2'));

  const error = await errorOf(late);
  expect(error).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  expect(error.message).toContain('another `token`');
  expect([another, signedIn, renewed].map(({ status }) => status)).toEqual([201, 201, 201]);
});

test('what is kept of deleted devices is bounded, has no token, and goes with the user', async () => {
  const world = lifecycle();
  const device = { token: CANARY, platform: 'ios' } as const;

  for (let i = 0; i < 15; i++) {
    await putDevice(world.chat, { caller: signedInOwner, deviceId: `d${i}`, ...device });
    await deleteDevice(world.chat, { caller: owner, deviceId: `d${i}` });
  }

  expect(await world.documents()).toHaveLength(10);
  expect(await canaries(world)).toEqual([]);
  expect(await listDevices(world.chat, owner)).toEqual([]);
  await erase(world);
  expect(await world.documents()).toEqual([]);
});

test('a device’s token is never shown, in answers or logs', async () => {
  const uid = newUser();
  const token = `secret-${randomUUID()}`;

  const answers = [
    await put(uid, 'a', phone(token)),
    await chat.call(`${LIST}/a`, { uid }),
    await chat.call(LIST, { uid }),
  ];

  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(JSON.stringify([texts, chat.logs])).not.toContain(token);
});

test.each([
  ['a token with spaces', 'a', phone('a b')],
  ['a token too long', 'a', phone('x'.repeat(4_097))],
  ['an unknown platform', 'a', { token: 't', platform: 'windows' }],
  ['an id that is none', 'a.b', phone('t')],
])('a device with %s is refused', async (_, deviceId, body) => {
  expect(await errorOf(await put(newUser(), deviceId, body))).toMatchObject({ http: 400 });
});
