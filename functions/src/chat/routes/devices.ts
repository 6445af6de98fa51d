import { json, noContent, noBody, userRoute } from '../route.ts';
import {
  deviceListResponse,
  deviceParams,
  deviceResponse,
  deviceView,
  putDeviceBody,
} from '#shared/wire/resources/devices.ts';
import { deleteDevice, listDevices, putDevice, readDevice } from '../features/devices.ts';

export const listDevicesRoute = userRoute({
  operation: 'listDevices',
  summary: 'The caller’s devices, the one that was put last first. Tokens are not shown.',
  response: deviceListResponse,
  handle: async (dependencies, { caller }) =>
    json({ devices: (await listDevices(dependencies, caller)).map(deviceView) }),
});

export const getDeviceRoute = userRoute({
  operation: 'getDevice',
  summary: 'One device.',
  params: deviceParams,
  response: deviceResponse,
  handle: async (dependencies, { caller, params }) =>
    json(deviceView(await readDevice(dependencies, { caller, ...params }))),
});

export const putDeviceRoute = userRoute({
  operation: 'putDevice',
  summary:
    'Registers an installation of the app for notifications, or renews its token. A user has at most 10; the oldest makes room. A deleted one is registered again by another token or a newer sign-in.',
  params: deviceParams,
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
  summary: 'Takes a device away, at sign-out above all. One that is not there is gone already.',
  params: deviceParams,
  response: noBody,
  statuses: [204],
  handle: async (dependencies, { caller, params }) => {
    await deleteDevice(dependencies, { caller, ...params });
    return noContent;
  },
});
