import { z } from 'zod';
import {
  deviceListResponse,
  deviceParams,
  deviceResponse,
  deviceView,
  putDeviceBody,
} from '#shared/wire/resources/devices.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { deleteDevice, listDevices, putDevice, readDevice } from '../features/devices.ts';
import { emptyBody, noBody, userRoute } from '../route.ts';

const path = '/v1/users/me/devices/{deviceId}';

export const listDevicesRoute = userRoute({
  operation: 'listDevices',
  method: 'GET',
  path: '/v1/users/me/devices',
  summary: 'The caller’s devices, the one that was put last first. Tokens are not shown.',
  params: z.strictObject({}),
  query: noQuery,
  body: noBody,
  response: deviceListResponse,
  statuses: [200],
  handle: async (dependencies, { caller }) => ({
    kind: 'json',
    body: { devices: (await listDevices(dependencies, caller)).map(deviceView) },
  }),
});

export const getDeviceRoute = userRoute({
  operation: 'getDevice',
  method: 'GET',
  path,
  summary: 'One device.',
  params: deviceParams,
  query: noQuery,
  body: noBody,
  response: deviceResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: deviceView(await readDevice(dependencies, { caller, ...params })),
  }),
});

export const putDeviceRoute = userRoute({
  operation: 'putDevice',
  method: 'PUT',
  path,
  summary:
    'Registers an installation of the app for notifications, or renews its token. A user has at most 10; the oldest makes room. A deleted one is registered again by another token or a newer sign-in.',
  params: deviceParams,
  query: noQuery,
  body: putDeviceBody,
  response: deviceResponse,
  statuses: [200, 201],
  errors: ['IDEMPOTENCY_KEY_REUSED', 'USER_DAILY_CREATIONS', 'ANONYMOUS_LIMIT'],
  badParams: 'badArgument',
  handle: async (dependencies, { caller, params, body }) => {
    const { device, isNew } = await putDevice(dependencies, { caller, ...params, ...body });
    return { kind: 'json', status: isNew ? 201 : 200, body: deviceView(device) };
  },
});

export const deleteDeviceRoute = userRoute({
  operation: 'deleteDevice',
  method: 'DELETE',
  path,
  summary: 'Takes a device away, at sign-out above all. One that is not there is gone already.',
  params: deviceParams,
  query: noQuery,
  body: emptyBody,
  response: noBody,
  statuses: [204],
  handle: async (dependencies, { caller, params }) => {
    await deleteDevice(dependencies, { caller, ...params });
    return { kind: 'empty', status: 204 };
  },
});
