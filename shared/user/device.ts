import { z } from 'zod';
import { devicesCollection } from '../conversation/documents/paths.ts';
import type { DocumentStore, StoredDocument } from '../ports/ports.ts';

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
  id: path.slice(path.lastIndexOf('/') + 1),
});

const byTime = (a: StoredDevice, b: StoredDevice) =>
  b.device.updateTime.getTime() - a.device.updateTime.getTime() ||
  (a.device.id < b.device.id ? -1 : 1);

/** The devices of a user, the one that was put last first; those that cannot be read are none. */
export async function readDevices(
  store: Pick<DocumentStore, 'query'>,
  uid: string,
): Promise<StoredDevice[]> {
  const collection = devicesCollection(uid);
  const documents = await store.query({ collection, limit: DEVICES_PER_READ });
  return documents
    .filter(({ fields }) => deviceSchema.safeParse(fields).success)
    .map((document) => ({
      path: document.path,
      device: decodeDevice(document),
      updateTime: document.updateTime,
    }))
    .toSorted(byTime);
}

/**
 * What has to go when a device has been put: those beyond the bound, the oldest first to go, and others
 * with the same token, which is that of one installation only.
 */
export const surplusDevices = (
  devices: readonly StoredDevice[],
  put: { id: string; token: string },
): StoredDevice[] => {
  const others = devices.filter(({ device }) => device.id !== put.id);
  const twins = others.filter(({ device }) => device.token === put.token);
  const rest = others.filter(({ device }) => device.token !== put.token);
  return [...twins, ...rest.slice(DEVICES_MAX - 1)];
};
