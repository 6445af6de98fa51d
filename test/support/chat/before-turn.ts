import { createBeforeTurnWebhooks } from '#functions/adapters/webhooks.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import type { BeforeTurnAnswer, BeforeTurnHook } from '#shared/hooks/before-turn.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from './chat-dependencies.ts';

const signingKey = 'a signing key of thirty-two chars';

interface Logged {
  severity: string;
  event: string;
  fields: object;
}

/** An instance of chat whose hooks are given, and what it asked and logged. */
export function hookedChat(
  overrides: Partial<ChatDependencies> = {},
  environment: Record<string, string> = {},
) {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const logged: Logged[] = [];
  const dependencies = chatDependencies(
    {
      model,
      logger: { log: (severity, event, fields) => logged.push({ severity, event, fields }) },
      ...overrides,
    },
    environment,
  );
  return {
    dependencies,
    logged,
    requests,
    /** What the last prompt says last. */
    said: () =>
      requests
        .at(-1)
        ?.contents.at(-1)
        ?.parts.map(({ text }) => text),
    send: async (asked: SendRequest) => (await sendMessage(dependencies, asked)).result,
  };
}

/** A hook that answers so, and the events that it got. */
export function hookOf(answer: BeforeTurnAnswer | undefined, name = 'crm') {
  const events: unknown[] = [];
  const hook: BeforeTurnHook = {
    name,
    run: (event) => {
      events.push(event);
      return Promise.resolve(answer);
    },
  };
  return { hook, events };
}

/** Calls webhooks of these hosts, on a clock of its own. */
export const calling = (hosts: string[], clock = createManualClock()) => ({
  clock,
  beforeTurnWebhooks: (given: readonly Webhook[]) =>
    createBeforeTurnWebhooks(given, { hosts, allowsHttp: true, signingKey, clock }),
});

/** How a context that a hook added begins. */
export const LABEL = 'Added by the service for this message.';
