import { AppError, GuardLostError } from '#shared/errors.ts';
import type { PushNotification } from '#shared/ports/ports.ts';
import type { StoredDevice } from '#shared/user/device.ts';
import type { NotificationDependencies } from './notification-dependencies.ts';

/** How long to wait where FCM does not say: Pub/Sub's own shortest wait. */
const RETRY_AFTER_MS = 10_000;

/** What came of telling one device; only `later` is to be tried again. */
export type Told = { kind: 'sent' | 'gone' | 'refused' } | { kind: 'later'; retryAfterMs: number };

/** Takes a device away whose token is dead, unless it has got another one meanwhile. */
async function removeDevice(
  { store }: NotificationDependencies,
  { path, updateTime }: StoredDevice,
): Promise<void> {
  try {
    await store.commit([{ op: 'delete', path, guard: { updateTime } }]);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
  }
}

/** Tells one device. Throws the abortion of `signal`, StoreUnavailableError, and defects. */
export async function notifyDevice(
  dependencies: NotificationDependencies & Required<Pick<NotificationDependencies, 'notifier'>>,
  { device, notification }: { device: StoredDevice; notification: PushNotification },
  signal: AbortSignal,
): Promise<Told> {
  const { notifier, logger } = dependencies;
  let kind: 'sent' | 'gone';
  try {
    kind = await notifier.send({ token: device.device.token, notification }, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const { reason, retryable, metadata, retryAfterMs = RETRY_AFTER_MS } = error;
    const code = metadata?.['code'];
    // Refusals are the deployment's to mend: a wrong project, a missing permission.
    logger.log(retryable ? 'WARNING' : 'ERROR', 'notification_failed', { reason, code });
    return retryable ? { kind: 'later', retryAfterMs } : { kind: 'refused' };
  }
  if (kind === 'gone') await removeDevice(dependencies, device);
  return { kind };
}
