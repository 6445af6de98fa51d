import { devicePath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import {
  decodeDevice,
  DEVICES_PER_READ,
  readDevices,
  surplusDevices,
  type Device,
} from '#shared/user/device.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { idAsStored } from '../id-as-stored.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';

interface DeviceOf {
  caller: Caller;
  deviceId: string;
}

type PutDevice = Pick<Device, 'token' | 'platform' | 'locale'>;

const deviceNotFound = (deviceId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'DEVICE_NOT_FOUND',
    message: 'no such device of this caller',
    publicMessage: 'You have no such device. Check its id in the list of devices.',
    metadata: { deviceId },
  });

/** The path of a device; a UUID is the same one in capitals, which earlier releases stored as they came. */
async function pathOfDevice(
  { store }: Pick<ChatDependencies, 'store'>,
  { caller, deviceId }: DeviceOf,
): Promise<{ id: string; path: string }> {
  const path = (id: string) => devicePath(caller.uid, id);
  const isUuidInCapitals = toLowerUuid(deviceId) !== deviceId;
  const id = isUuidInCapitals ? await idAsStored({ store }, deviceId, path) : deviceId;
  return { id, path: path(id) };
}

async function putOnce(
  { store, clock, quota }: Pick<ChatDependencies, 'store' | 'clock' | 'quota'>,
  { caller, deviceId, token, platform, locale }: DeviceOf & PutDevice,
): Promise<{ device: Device; isNew: boolean }> {
  const { id, path } = await pathOfDevice({ store }, { caller, deviceId });
  const [known] = await store.get([path]);
  const fields = {
    schemaVersion: 1 as const,
    token,
    platform,
    ...(locale !== undefined && { locale }),
    updateTime: clock.now(),
  };
  const remove = locale === undefined ? ['locale'] : [];
  const write: Write = known
    ? { op: 'update', path, fields, remove, guard: { updateTime: known.updateTime } }
    : { op: 'create', path, fields };
  const counted = known ? [] : await quota.create(caller, 1);
  await store.commit([write, ...counted]);
  return { device: { id, ...fields }, isNew: !known };
}

/**
 * Puts a device of the caller, in the place of the one that has the id. A user has at most 10: the one that
 * was put longest ago makes room. Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT, StoreUnavailableError.
 */
export async function putDevice(
  dependencies: Pick<ChatDependencies, 'store' | 'clock' | 'quota'>,
  request: DeviceOf & PutDevice,
): Promise<{ device: Device; isNew: boolean }> {
  const { store, clock } = dependencies;
  const put = await retryWhenLost(clock, () => putOnce(dependencies, request));
  for (;;) {
    const devices = await readDevices(store, request.caller.uid);
    const surplus = surplusDevices(devices, put.device);
    // Without a guard: who deletes them first has done it for all.
    if (surplus.length > 0) await store.commit(surplus.map(({ path }) => ({ op: 'delete', path })));
    // Many that were put at once are more than one read gives.
    if (surplus.length === 0 || devices.length < DEVICES_PER_READ) return put;
  }
}

/** The caller's devices, the one that was put last first. */
export const listDevices = async (
  { store }: Pick<ChatDependencies, 'store'>,
  caller: Caller,
): Promise<Device[]> => (await readDevices(store, caller.uid)).map(({ device }) => device);

/** One device. Throws DEVICE_NOT_FOUND. */
export async function readDevice(
  { store }: Pick<ChatDependencies, 'store'>,
  { caller, deviceId }: DeviceOf,
): Promise<Device> {
  const { path } = await pathOfDevice({ store }, { caller, deviceId });
  const [document] = await store.get([path]);
  if (!document) throw deviceNotFound(deviceId);
  return decodeDevice(document);
}

/** Takes a device away, at sign-out above all; one that is not there is gone already. */
export async function deleteDevice(
  { store }: Pick<ChatDependencies, 'store'>,
  { caller, deviceId }: DeviceOf,
): Promise<void> {
  const { path } = await pathOfDevice({ store }, { caller, deviceId });
  await store.commit([{ op: 'delete', path }]);
}
