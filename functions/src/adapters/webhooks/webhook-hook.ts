import { readBytes } from '#functions/lib/read-bytes.ts';
import type {
  CompactionHookResult,
  CompactionHooks,
  PreCompactAnswer,
  PreCompactEvent,
} from '#shared/compaction/hooks.ts';
import {
  beforeTurnAnswerSchema,
  type BeforeTurnAnswer,
  type BeforeTurnEvent,
  type BeforeTurnHook,
} from '#shared/hooks/before-turn.ts';
import {
  WEBHOOK_ANSWER_MAX_BYTES,
  webhookAnswerSchema,
  webhookName,
  type Webhook,
  type WebhookEvent,
} from '#shared/hooks/webhook.ts';
import { postSigned, webhookFailed, type SignedPostOptions } from './signed-post.ts';
import type { z } from 'zod';

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
      run: async (event: PreCompactEvent, signal: AbortSignal) =>
        preCompactAnswer(
          webhook,
          await call(options, { webhook, type: 'preCompact', event }, signal),
        ),
    })),
    postCompact: hooksFor(webhooks, 'postCompact').map(({ webhook, ...hook }) => ({
      ...hook,
      run: async (event: CompactionHookResult, signal: AbortSignal) => {
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
      event: BeforeTurnEvent,
      signal: AbortSignal,
    ): Promise<BeforeTurnAnswer | undefined> =>
      parseAnswer(
        webhook,
        beforeTurnAnswerSchema,
        await call(options, { webhook, type: 'beforeTurn', event }, signal),
      ),
  }));
