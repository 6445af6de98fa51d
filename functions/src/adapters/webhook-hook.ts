import { createHmac } from 'node:crypto';
import type {
  CompactionHookEvent,
  CompactionHookResult,
  CompactionHooks,
  PreCompactAnswer,
} from '../../../shared/compaction/hooks.ts';
import {
  isAllowedWebhook,
  signedWebhookText,
  WEBHOOK_ANSWER_MAX_BYTES,
  webhookAnswerSchema,
  webhookName,
  type Webhook,
  type WebhookEvent,
  type WebhookHosts,
} from '../../../shared/compaction/webhook.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/ports.ts';
import { readBytes } from '../read-bytes.ts';

export interface WebhookOptions extends WebhookHosts {
  /** Secret that signs every call. */
  signingKey: string;
  clock: Pick<Clock, 'now'>;
}

const failed = (webhook: Webhook, problem: string, cause?: unknown) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'WEBHOOK_FAILED',
    message: `${webhookName(webhook)} ${problem}`,
    publicMessage: 'A step before the compaction failed.',
    retryable: true,
    cause,
  });

function headersOf({ signingKey, clock }: WebhookOptions, body: string) {
  const timestamp = String(Math.floor(clock.now().getTime() / 1_000));
  const mac = createHmac('sha256', signingKey).update(signedWebhookText(timestamp, body), 'utf8');
  return {
    'content-type': 'application/json; charset=utf-8',
    'x-recap-timestamp': timestamp,
    'x-recap-signature': `sha256=${mac.digest('hex')}`,
  };
}

function parseAnswer(webhook: Webhook, text: string): PreCompactAnswer | undefined {
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw failed(webhook, 'answered no JSON', error);
  }
  const answer = webhookAnswerSchema.safeParse(value);
  if (!answer.success) throw failed(webhook, 'answered what is no answer', answer.error);
  const { veto, pins } = answer.data;
  return { ...(veto !== undefined && { veto }), ...(pins && { pins }) };
}

/** Posts one event and reads the answer. Throws AppError WEBHOOK_FAILED, and the abortion of `signal`. */
async function call(
  options: WebhookOptions,
  { webhook, type, event }: { webhook: Webhook; type: WebhookEvent; event: CompactionHookEvent },
  signal: AbortSignal,
): Promise<string> {
  if (!isAllowedWebhook(webhook.url, options)) throw failed(webhook, 'is not in HOOK_HOSTS');
  const body = JSON.stringify({ schemaVersion: 1, type, ...event });
  let response: Response;
  try {
    response = await fetch(webhook.url, {
      method: 'POST',
      headers: headersOf(options, body),
      body,
      // Where a redirect leads nobody has allowed.
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw failed(webhook, 'could not be reached', error);
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw failed(webhook, `answered ${response.status}`);
  }
  if (!response.body) return '';
  try {
    return (await readBytes(response.body, WEBHOOK_ANSWER_MAX_BYTES)).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw error;
    throw failed(webhook, 'answered too much or broke off', error);
  }
}

/**
 * Webhooks as hooks, in their order. Each call is a POST of the event as JSON with the header
 * `x-recap-signature`: `sha256=` and the HMAC-SHA-256, in hex, of the value of `x-recap-timestamp` (seconds),
 * a dot and the body. Only addresses that are allowed at the time of the call are called; redirects are
 * failures.
 */
export function createWebhookHooks(
  webhooks: readonly Webhook[],
  options: WebhookOptions,
): CompactionHooks {
  const hooksOf = (type: WebhookEvent) =>
    webhooks
      .filter(({ events }) => events.includes(type))
      .map((webhook) => ({
        webhook,
        name: webhookName(webhook),
        ...(webhook.required !== undefined && { required: webhook.required }),
      }));
  return {
    preCompact: hooksOf('preCompact').map(({ webhook, ...hook }) => ({
      ...hook,
      run: async (event: CompactionHookEvent, signal: AbortSignal) =>
        parseAnswer(webhook, await call(options, { webhook, type: 'preCompact', event }, signal)),
    })),
    postCompact: hooksOf('postCompact').map(({ webhook, ...hook }) => ({
      ...hook,
      run: async (event: CompactionHookResult, signal: AbortSignal) => {
        await call(options, { webhook, type: 'postCompact', event }, signal);
        return undefined;
      },
    })),
  };
}
