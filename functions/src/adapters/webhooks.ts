import { readBytes } from '#functions/lib/read-bytes.ts';
import {
  type Asked,
  HOOK_TIMEOUT_MS,
  type CompactionHookResult,
  type CompactionHooks,
  type PreCompactAnswer,
  type PreCompactEvent,
} from '#shared/compaction/hooks.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  beforeTurnAnswerSchema,
  type BeforeTurnAnswer,
  type BeforeTurnEvent,
  type BeforeTurnHook,
  type BeforeTurnQuestion,
} from '#shared/hooks/before-turn.ts';
import {
  isAllowedWebhook,
  signedWebhookText,
  webhookName,
  type WebhookHosts,
  WEBHOOK_ANSWER_MAX_BYTES,
  webhookAnswerSchema,
  type Webhook,
  type WebhookEvent,
} from '#shared/hooks/webhook.ts';
import type { Clock, EventWebhook } from '#shared/ports/ports.ts';
import { createHmac } from 'node:crypto';
import type { z } from 'zod';

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

function parseAnswer<T>(webhook: Webhook, schema: z.ZodType<T>, text: string): T | undefined {
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw webhookFailed(webhook, 'answered no JSON', error);
  }
  const answer = schema.safeParse(value);
  if (!answer.success) throw webhookFailed(webhook, 'answered what is no answer', answer.error);
  return answer.data;
}

function preCompactAnswer(webhook: Webhook, text: string): PreCompactAnswer | undefined {
  const { veto, pins, note } = parseAnswer(webhook, webhookAnswerSchema, text) ?? {};
  return {
    ...(veto !== undefined && { veto }),
    ...(pins && { pins }),
    ...(note !== undefined && { note }),
  };
}

/** Posts one event and reads the answer. Throws AppError WEBHOOK_FAILED, and the abortion of `signal`. */
async function call(
  options: SignedPostOptions,
  {
    webhook,
    type,
    event,
  }: {
    webhook: Webhook;
    type: WebhookEvent;
    event: PreCompactEvent | CompactionHookResult | BeforeTurnEvent;
  },
  signal: AbortSignal,
): Promise<string> {
  const body = JSON.stringify({ schemaVersion: 1, type, ...event });
  const response = await postSigned(options, { url: webhook.url, body }, signal);
  if (!response.body) return '';
  try {
    return (await readBytes(response.body, WEBHOOK_ANSWER_MAX_BYTES)).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw error;
    throw webhookFailed(webhook, 'answered too much or broke off', error);
  }
}

const hooksFor = (webhooks: readonly Webhook[], type: WebhookEvent) =>
  webhooks
    .filter(({ events }) => events.includes(type))
    .map((webhook) => ({
      webhook,
      name: webhookName(webhook),
      ...(webhook.required !== undefined && { required: webhook.required }),
    }));

/**
 * Webhooks as hooks, in their order. Each call is a signed POST of the event as JSON (see `postSigned`). Only
 * addresses that are allowed at the time of the call are called.
 */
export function createWebhookHooks(
  webhooks: readonly Webhook[],
  options: SignedPostOptions,
): CompactionHooks {
  return {
    preCompact: hooksFor(webhooks, 'preCompact').map(({ webhook, ...hook }) => ({
      ...hook,
      run: async ({ event }: Asked<PreCompactEvent>, signal: AbortSignal) =>
        preCompactAnswer(
          webhook,
          await call(options, { webhook, type: 'preCompact', event }, signal),
        ),
    })),
    postCompact: hooksFor(webhooks, 'postCompact').map(({ webhook, ...hook }) => ({
      ...hook,
      run: async ({ event }: Asked<CompactionHookResult>, signal: AbortSignal) => {
        await call(options, { webhook, type: 'postCompact', event }, signal);
        return undefined;
      },
    })),
  };
}

/** The same for what is asked before a message is stored. */
export const createBeforeTurnWebhooks = (
  webhooks: readonly Webhook[],
  options: SignedPostOptions,
): BeforeTurnHook[] =>
  hooksFor(webhooks, 'beforeTurn').map(({ webhook, ...hook }) => ({
    ...hook,
    run: async (
      { event }: BeforeTurnQuestion,
      signal: AbortSignal,
    ): Promise<BeforeTurnAnswer | undefined> =>
      parseAnswer(
        webhook,
        beforeTurnAnswerSchema,
        await call(options, { webhook, type: 'beforeTurn', event }, signal),
      ),
  }));
