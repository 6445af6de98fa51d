import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { deleteDevice, listDevices, putDevice } from '#functions/chat/features/devices.ts';
import { deviceListResponse, deviceResponse } from '#shared/wire/resources/devices.ts';
import { errorOf, startChatServer } from '../support/chat/chat-server.ts';
import { erase } from '../support/compaction/erasing.ts';
import { readAs } from '../support/chat/http-answers.ts';
import { idTokenClaims } from '../support/token-keys.ts';
import { CANARY, canaries, lifecycle, owner, signedInOwner } from '../support/chat/lifecycle.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const newUser = () => `user-${randomUUID()}`;
const path = (deviceId?: string) =>
  `/v1/users/me/devices${deviceId === undefined ? '' : `/${deviceId}`}`;
const put = (uid: string, deviceId: string, body: unknown) =>
  chat.call(path(deviceId), { method: 'PUT', uid, body });
const list = async (uid: string) =>
  (await readAs(deviceListResponse, await chat.call(path(), { uid }))).devices;
const phone = (token: string) => ({ token, platform: 'ios' });

describe('a device', () => {
  test('a device is put, renewed, read and removed by its id', async () => {
    const uid = newUser();

    const made = await put(uid, 'phone', phone('t1'));
    const renewed = await put(uid, 'phone', { token: 't2', platform: 'android' });

    expect([made.status, renewed.status]).toEqual([201, 200]);
    const device = await readAs(deviceResponse, renewed);
    expect(device).toMatchObject({ id: 'phone', platform: 'android' });
    const read = await chat.call(path('phone'), { uid });
    expect(await readAs(deviceResponse, read)).toEqual(device);
    expect(await list(uid)).toEqual([device]);
    const deleted = () => chat.call(path('phone'), { method: 'DELETE', uid });
    expect([(await deleted()).status, (await deleted()).status]).toEqual([204, 204]);
    expect(await list(uid)).toEqual([]);
    const gone = await chat.call(path('phone'), { uid });
    expect(await errorOf(gone)).toMatchObject({ http: 404, reason: 'DEVICE_NOT_FOUND' });
  });

  test('a deleted device does not come back with a late copy, but with a new token or sign-in', async () => {
    const uid = newUser();
    const first = phone('t1');
    await put(uid, 'phone', first);
    await chat.call(path('phone'), { method: 'DELETE', uid });

    const late = await put(uid, 'phone', first);
    const another = await put(uid, 'tablet', first);
    const now = Math.floor(Date.now() / 1_000);
    const claims = idTokenClaims(chat.project, uid, { auth_time: now, iat: now });
    const token = await chat.keys.sign(claims);
    const signedIn = await chat.call(path('phone'), { method: 'PUT', token, body: first });
    await chat.call(path('phone'), { method: 'DELETE', uid });
    const renewed = await put(uid, 'phone', phone('t2'));

    const error = await errorOf(late);
    expect(error).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
    expect(error.message).toContain('another `token`');
    expect([another, signedIn, renewed].map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  test('what is kept of deleted devices is bounded, has no token, and is no device', async () => {
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

    const texts = [
      await (await put(uid, 'a', phone(token))).text(),
      await (await chat.call(path('a'), { uid })).text(),
      await (await chat.call(path(), { uid })).text(),
      JSON.stringify(chat.logs),
    ];

    expect(texts.join('\n')).not.toContain(token);
  });

  test('an eleventh device removes the one that was put longest ago', async () => {
    const uid = newUser();
    const ids = Array.from({ length: 12 }, (_, i) => `d${i}`);
    for (const id of ids) {
      await put(uid, id, phone(`token-${id}`));
      if (id === 'd9') await put(uid, 'd0', phone('token-d0-new'));
    }

    const kept = (await list(uid)).map(({ id }) => id);

    expect(kept).toHaveLength(10);
    expect(kept).toContain('d0');
    expect(ids.filter((id) => !kept.includes(id))).toEqual(['d1', 'd2']);
  });

  test('twenty devices put at once leave ten', async () => {
    const uid = newUser();

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => put(uid, `d${i}`, phone(`token-${i}`))),
    );

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    await put(uid, 'd0', phone('token-last'));
    expect((await list(uid)).length).toBeLessThanOrEqual(10);
  });

  test('a device replaces another one with the same token', async () => {
    const uid = newUser();
    await put(uid, 'before', phone('same'));

    await put(uid, 'after', phone('same'));

    expect((await list(uid)).map(({ id }) => id)).toEqual(['after']);
  });

  test('a device belongs to its user alone', async () => {
    const [uid, other] = [newUser(), newUser()];
    await put(uid, 'phone', phone('t'));

    const read = await chat.call(path('phone'), { uid: other });
    await chat.call(path('phone'), { method: 'DELETE', uid: other });

    expect(read.status).toBe(404);
    expect(await list(other)).toEqual([]);
    expect(await list(uid)).toHaveLength(1);
  });

  test.each([
    ['no token', { platform: 'ios' }],
    ['an empty token', { token: '', platform: 'ios' }],
    ['a token with spaces', { token: 'a b', platform: 'ios' }],
    ['a token too long', { token: 'x'.repeat(4_097), platform: 'ios' }],
    ['an unknown platform', { token: 't', platform: 'windows' }],
    ['a user', { token: 't', platform: 'ios', uid: 'bob' }],
  ])('a device with %s is refused', async (_, body) => {
    const response = await put(newUser(), 'a', body);

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
  });

  test('a device with an invalid id is refused, and not found when read', async () => {
    expect(await errorOf(await put(newUser(), 'a.b', phone('t')))).toMatchObject({ http: 400 });
    const read = await chat.call(path('x'.repeat(65)));
    expect(await errorOf(read)).toMatchObject({ http: 404 });
  });

  test('a device is erased with the user', async () => {
    const world = lifecycle();
    const device = { token: CANARY, platform: 'ios' } as const;
    await putDevice(world.chat, { caller: signedInOwner, deviceId: 'a', ...device });
    expect(await canaries(world)).toEqual(['users/u1/devices/a']);

    await erase(world);

    expect(await world.documents()).toEqual([]);
  });
});
