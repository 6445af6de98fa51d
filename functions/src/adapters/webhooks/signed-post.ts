import { HOOK_TIMEOUT_MS } from '#shared/compaction/hooks.ts';
import { AppError } from '#shared/errors.ts';
import {
  isAllowedWebhook,
  signedWebhookText,
  webhookName,
  type WebhookHosts,
} from '#shared/hooks/webhook.ts';
import type { Clock, EventWebhook } from '#shared/ports/ports.ts';
import { createHmac } from 'node:crypto';

export interface SignedPostOptions extends WebhookHosts {
  /** Secret that signs every call. */
  signingKey: string;
  clock: Pick<Clock, 'now'>;
}

/** WEBHOOK_FAILED, with the host of the address and no more of it. */
export const webhookFailed = (webhook: { url: string }, problem: string, cause?: unknown) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'WEBHOOK_FAILED',
    message: `${webhookName(webhook)} ${problem}`,
    publicMessage: 'A webhook of the deployment failed.',
    retryable: true,
    cause,
  });

function headersOf({ signingKey, clock }: SignedPostOptions, body: string) {
  const timestamp = String(Math.floor(clock.now().getTime() / 1_000));
  const mac = createHmac('sha256', signingKey).update(signedWebhookText(timestamp, body), 'utf8');
  return {
    'content-type': 'application/json; charset=utf-8',
    'x-recap-timestamp': timestamp,
    'x-recap-signature': `sha256=${mac.digest('hex')}`,
  };
}

/**
 * POSTs JSON with the header `x-recap-signature`: `sha256=` and the HMAC-SHA-256, in hex, of the value of
 * `x-recap-timestamp` (seconds), a dot and the body. Redirects are failures. Resolves to a successful response
 * whose body is to be read or cancelled. Throws AppError WEBHOOK_FAILED, and the abortion of `signal`.
 */
export async function postSigned(
  options: SignedPostOptions,
  { url, body }: { url: string; body: string },
  signal: AbortSignal,
): Promise<Response> {
  if (!isAllowedWebhook(url, options)) throw webhookFailed({ url }, 'is not in HOOK_HOSTS');
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: headersOf(options, body),
      body,
      // Where a redirect leads nobody has allowed.
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw webhookFailed({ url }, 'could not be reached', error);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  throw webhookFailed({ url }, `answered ${response.status}`);
}

/** The operator's webhook of events at `url`: signed as hooks are, within the time that hooks have. */
export const createEventWebhook = (url: string, options: SignedPostOptions): EventWebhook => ({
  tell: async (event, signal) => {
    const late = AbortSignal.timeout(HOOK_TIMEOUT_MS);
    const body = JSON.stringify(event);
    try {
      const either = AbortSignal.any([signal, late]);
      const response = await postSigned(options, { url, body }, either);
      await response.body?.cancel();
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw webhookFailed({ url }, `took longer than ${HOOK_TIMEOUT_MS} ms`, error);
    }
  },
});
