import type {
  CompactionHookEvent,
  CompactionHookResult,
  CompactionHooks,
  PreCompactAnswer,
} from '../../../shared/compaction/hooks.ts';
import {
  WEBHOOK_ANSWER_MAX_BYTES,
  webhookAnswerSchema,
  webhookName,
  type Webhook,
  type WebhookEvent,
} from '../../../shared/compaction/webhook.ts';
import { readBytes } from '../read-bytes.ts';
import { postSigned, webhookFailed, type SignedPostOptions } from './signed-post.ts';

function parseAnswer(webhook: Webhook, text: string): PreCompactAnswer | undefined {
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw webhookFailed(webhook, 'answered no JSON', error);
  }
  const answer = webhookAnswerSchema.safeParse(value);
  if (!answer.success) throw webhookFailed(webhook, 'answered what is no answer', answer.error);
  const { veto, pins } = answer.data;
  return { ...(veto !== undefined && { veto }), ...(pins && { pins }) };
}

/** Posts one event and reads the answer. Throws AppError WEBHOOK_FAILED, and the abortion of `signal`. */
async function call(
  options: SignedPostOptions,
  { webhook, type, event }: { webhook: Webhook; type: WebhookEvent; event: CompactionHookEvent },
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

/**
 * Webhooks as hooks, in their order. Each call is a signed POST of the event as JSON (see `postSigned`). Only
 * addresses that are allowed at the time of the call are called.
 */
export function createWebhookHooks(
  webhooks: readonly Webhook[],
  options: SignedPostOptions,
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
