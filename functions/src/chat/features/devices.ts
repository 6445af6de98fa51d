import type { ChatDependencies } from '../chat-dependencies.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { devicePath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { SignedInCaller, Caller, Write } from '#shared/ports/ports.ts';
import {
  decodeDeletedDevice,
  decodeDevice,
  DEVICES_PER_READ,
  isLateCopy,
  readDeviceDocuments,
  readDevices,
  surplusDevices,
  type DeletedDevice,
  type Device,
} from '#shared/notification/device.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';

interface DeviceOf {
  caller: Caller;
  deviceId: string;
}

type PutRequest = DeviceOf &
  Pick<Device, 'token' | 'platform' | 'locale'> & { caller: SignedInCaller };

/** The path of a device; a UUID is the same one in capitals. */
const pathOfDevice = ({ caller, deviceId }: DeviceOf): string =>
  devicePath(caller.uid, toLowerUuid(deviceId));

/** 409: the request is a late copy of the one that put the device. */
const deviceDeleted = (deviceId: string) =>
  new AppError({
    reason: 'IDEMPOTENCY_KEY_REUSED',
    publicMessage:
      'The device was deleted. To register it again, sign in again, send another `token`, or choose another id.',
    metadata: { deviceId },
  });

type PutDependencies = Pick<ChatDependencies, 'store' | 'clock' | 'quota' | 'sha256'>;

async function putOnce(
  { store, clock, quota, sha256 }: PutDependencies,
  { caller, deviceId, token, platform, locale }: PutRequest,
): Promise<{ device: Device; isNew: boolean }> {
  const path = pathOfDevice({ caller, deviceId });
  const [known] = await store.get([path]);
  const deleted = known && decodeDeletedDevice(known);
  const { signedInAt } = caller;
  if (deleted && isLateCopy(deleted, { tokenSha256: sha256(token), signedInAt }))
    throw deviceDeleted(deviceId);
  const fields = {
    schemaVersion: 1 as const,
    token,
    platform,
    ...(locale !== undefined && { locale }),
    updateTime: clock.now(),
  };
  const remove = [...(locale === undefined ? ['locale'] : []), 'deletedToken'];
  const isNew = !known || deleted !== undefined;
  const write: Write = known
    ? { op: 'update', path, fields, remove, guard: { updateTime: known.updateTime } }
    : { op: 'create', path, fields };
  const counted = isNew ? await quota.create(caller, 1) : [];
  await store.commit([write, ...counted]);
  return { device: { id: toLowerUuid(deviceId), ...fields }, isNew };
}

/** Takes away what is over the bounds once a device has been put or deleted. */
async function dropSurplus(
  { store }: Pick<ChatDependencies, 'store'>,
  { uid }: Caller,
  put?: Device,
): Promise<void> {
  for (;;) {
    const documents = await readDeviceDocuments(store, uid);
    const surplus = surplusDevices(documents, put);
    // Without a guard: who deletes them first has done it for all.
    if (surplus.length > 0) await store.commit(surplus.map((path) => ({ op: 'delete', path })));
    // Many that were put at once are more than one read gives.
    if (surplus.length === 0 || documents.length < DEVICES_PER_READ) return;
  }
}

/**
 * Puts a device of the caller, in the place of the one that has the id. A user has at most 10: the one that
 * was put longest ago makes room. A device that was deleted is put again by another token or a newer sign-in. Throws
 * IDEMPOTENCY_KEY_REUSED, USER_DAILY_CREATIONS, ANONYMOUS_LIMIT, StoreUnavailableError.
 */
export async function putDevice(
  dependencies: PutDependencies,
  request: PutRequest,
): Promise<{ device: Device; isNew: boolean }> {
  const put = await retryWhenLost(dependencies.clock, () => putOnce(dependencies, request));
  await dropSurplus(dependencies, request.caller, put.device);
  return put;
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
  const path = pathOfDevice({ caller, deviceId });
  const [document] = await store.get([path]);
  if (!document || decodeDeletedDevice(document))
    throw new AppError({
      reason: 'DEVICE_NOT_FOUND',
      publicMessage: 'You have no such device. Check its id in the list of devices.',
      metadata: { deviceId },
    });
  return decodeDevice(document);
}

/** Takes a device away, at sign-out above all; one that is not there is gone already. */
export async function deleteDevice(
  { store, clock, sha256 }: Pick<ChatDependencies, 'store' | 'clock' | 'sha256'>,
  { caller, deviceId }: DeviceOf,
): Promise<void> {
  const path = pathOfDevice({ caller, deviceId });
  await retryWhenLost(clock, async () => {
    const [document] = await store.get([path]);
    if (!document || decodeDeletedDevice(document)) return;
    const { token } = document.fields;
    const deleted: DeletedDevice = {
      schemaVersion: 1,
      deletedToken: sha256(typeof token === 'string' ? token : ''),
      updateTime: clock.now(),
    };
    const guard = { updateTime: document.updateTime };
    const remove = ['token', 'platform', 'locale'];
    await store.commit([{ op: 'update', path, fields: { ...deleted }, remove, guard }]);
  });
  await dropSurplus({ store }, caller);
}
