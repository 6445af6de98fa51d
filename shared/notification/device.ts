import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { lastSegment } from '#shared/store/names.ts';
import { devicesCollection } from '#shared/conversation/documents/paths.ts';
import { z } from 'zod';

/** Devices of one user: more than a person has, and an old installation that nobody deleted falls out. */
export const DEVICES_MAX = 10;

/** Documents of one read: all there can be, and those of requests that run at the same time. */
export const DEVICES_PER_READ = 50;

const deviceSchema = z.object({
  schemaVersion: z.literal(1),
  /** Registration token of Firebase Cloud Messaging. */
  token: z.string(),
  platform: z.enum(['ios', 'android', 'web']),
  /** BCP 47: the language of what notifications say. */
  locale: z.string().optional(),
  updateTime: z.date(),
});

const deletedDeviceSchema = z.object({
  schemaVersion: z.literal(1),
  /** SHA-256 of its token. */
  deletedToken: z.string(),
  updateTime: z.date(),
});

/**
 * In the place of a device that was deleted: a late copy of the request that put it must not bring it back, because its
 * notifications would reach who signed in behind the user.
 */
export type DeletedDevice = z.infer<typeof deletedDeviceSchema>;

/** Reads what stands in the place of a deleted device; undefined for a device. */
export const decodeDeletedDevice = ({ fields }: StoredDocument): DeletedDevice | undefined =>
  deletedDeviceSchema.safeParse(fields).data;

/** Times of sign-ins are whole seconds. */
const toSeconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

/** Whether a deleted device is put as it was, by a sign-in that is older than the deletion. */
export const isLateCopy = (
  deleted: DeletedDevice,
  put: { tokenSha256: string; signedInAt: Date },
): boolean =>
  deleted.deletedToken === put.tokenSha256 &&
  toSeconds(put.signedInAt) < toSeconds(deleted.updateTime);

/** `users/{uid}/devices/{id}`: an installation of the app that can be told of answers and compactions. */
export interface Device extends z.infer<typeof deviceSchema> {
  id: string;
}

export interface StoredDevice {
  path: string;
  device: Device;
  /** Of the document. */
  updateTime: string;
}

/** Reads a device. Throws ZodError for a shape that this version does not know. */
export const decodeDevice = ({ path, fields }: StoredDocument): Device => ({
  ...deviceSchema.parse(fields),
  id: lastSegment(path),
});

const byTime = (a: StoredDevice, b: StoredDevice) =>
  b.device.updateTime.getTime() - a.device.updateTime.getTime() ||
  (a.device.id < b.device.id ? -1 : 1);

const devicesIn = (documents: readonly StoredDocument[]): StoredDevice[] =>
  documents
    .filter(({ fields }) => deviceSchema.safeParse(fields).success)
    .map((document) => ({
      path: document.path,
      device: decodeDevice(document),
      updateTime: document.updateTime,
    }))
    .toSorted(byTime);

/** All documents of devices and deleted devices of a user that one read gives. */
export const readDeviceDocuments = (
  store: Pick<DocumentStore, 'query'>,
  uid: string,
): Promise<StoredDocument[]> =>
  store.query({ collection: devicesCollection(uid), limit: DEVICES_PER_READ });

/** The devices of a user, the one that was put last first; those that cannot be read are none. */
export const readDevices = async (
  store: Pick<DocumentStore, 'query'>,
  uid: string,
): Promise<StoredDevice[]> => devicesIn(await readDeviceDocuments(store, uid));

/** Paths of deleted devices beyond the bound, the oldest ones. */
const surplusDeleted = (documents: readonly StoredDocument[]): string[] =>
  documents
    .flatMap((document) => {
      const deleted = decodeDeletedDevice(document);
      return deleted ? [{ path: document.path, time: deleted.updateTime.getTime() }] : [];
    })
    .toSorted((one, other) => other.time - one.time)
    .slice(DEVICES_MAX)
    .map(({ path }) => path);

/**
 * The paths of what has to go when a device has been put or deleted: devices and deleted devices beyond the bound, the
 * oldest first to go, and others with the token of the device put, which is that of one installation only.
 */
export function surplusDevices(
  documents: readonly StoredDocument[],
  put?: { id: string; token: string },
): string[] {
  const others = devicesIn(documents).filter(({ device }) => device.id !== put?.id);
  const twins = others.filter(({ device }) => device.token === put?.token);
  const rest = others.filter(({ device }) => device.token !== put?.token);
  const beyond = rest.slice(put ? DEVICES_MAX - 1 : DEVICES_MAX);
  return [...[...twins, ...beyond].map(({ path }) => path), ...surplusDeleted(documents)];
}
