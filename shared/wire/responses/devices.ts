import { z } from 'zod';
import { time } from './fields.ts';

/** Without the token: it lets whoever has it send to the device. */
export const deviceResponse = z.object({
  id: z.string(),
  platform: z.enum(['ios', 'android', 'web']),
  locale: z.string().optional().describe('The language of its notifications, where one was given.'),
  updateTime: time.describe('When its token was last put.'),
});
export type DeviceView = z.infer<typeof deviceResponse>;

export const deviceListResponse = z.object({
  devices: z.array(deviceResponse).describe('The one that was put last first; at most 10.'),
});
