import type { Device } from '#shared/notification/device.ts';
import { time } from '../fields.ts';
import { DEVICE_TOKEN_MAX_CHARACTERS } from '#shared/lib/limits.ts';
import { z } from 'zod';

export const deviceParams = z.strictObject({
  deviceId: z
    .string()
    .max(64)
    // The store keeps names that begin with two underscores for itself.
    .regex(
      /^(?:[A-Za-z0-9-][\w-]*|_(?:[A-Za-z0-9-][\w-]*)?)$/,
      'must be letters, digits, - and _, and not begin with __',
    )
    .describe('The app’s id of its installation; another token under the same id takes its place.'),
});

export const putDeviceBody = z.strictObject({
  token: z
    .string()
    .max(DEVICE_TOKEN_MAX_CHARACTERS)
    .regex(/^[\x21-\x7e]+$/, 'must be a push token, printable ASCII without spaces')
    .describe('The registration token of Firebase Cloud Messaging.'),
  platform: z.enum(['ios', 'android', 'web']),
  locale: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*$/, 'must be a BCP 47 tag such as ko-KR')
    .optional()
    .describe('The language of the device (BCP 47): notifications are written in it.'),
});

/** Without the token: it lets whoever has it send to the device. */
export const deviceResponse = z.object({
  id: z.string(),
  platform: z.enum(['ios', 'android', 'web']),
  locale: z.string().optional().describe('The language of its notifications, where one was given.'),
  updateTime: time.describe('When its token was last put.'),
});
type DeviceView = z.infer<typeof deviceResponse>;

export const deviceListResponse = z.object({
  devices: z.array(deviceResponse).describe('The one that was put last first; at most 10.'),
});

/** Its token stays inside. */
export const deviceView = ({ id, platform, locale, updateTime }: Device): DeviceView => ({
  id,
  platform,
  ...(locale !== undefined && { locale }),
  updateTime: updateTime.toISOString(),
});
