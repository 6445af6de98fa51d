import { setTimeout as delay } from 'node:timers/promises';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import { searchResponse } from '#shared/wire/resources/search.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { conversationPath, type SmokeContext } from './smoke-context.ts';

const MANY = 100;

const transcript: Step<SmokeContext> = {
  name: 'transcript',
  needs: ['send'],
  run: async (context) => {
    const path = conversationPath(context, `/messages?pageSize=${MANY}`);
    const { messages } = await context.client.json(messageListResponse, { path });
    const ids = messages.filter(({ role }) => role === 'user').map(({ id }) => id);
    const lost = context.sent.filter(({ id }) => !ids.includes(id));
    if (lost.length === 0 && ids.length >= context.sent.length)
      return `${messages.length} messages`;
    throw new SmokeFailure({
      tried: `GET ${context.client.url}${path}`,
      came: `${lost.length} of ${context.sent.length} messages are not in it`,
      remedy: 'Acknowledged messages must never be lost: keep the conversation and report it.',
    });
  },
};

const exported: Step<SmokeContext> = {
  name: 'export',
  needs: ['send'],
  run: async (context) => {
    const path = conversationPath(context, ':export');
    const response = await context.client.open({ path });
    const lines = (await response.text()).trim().split('\n');
    if (lines.length > context.sent.length) return `${lines.length} lines`;
    throw new SmokeFailure({
      tried: `GET ${context.client.url}${path}`,
      came: `${lines.length} lines for ${context.sent.length} messages and their answers`,
      remedy: 'The transfer broke off: look for export_broken in the log of chat.',
    });
  },
};

const search: Step<SmokeContext> = {
  name: 'search',
  needs: ['send'],
  run: async (context) => {
    const path = conversationPath(context, `:search?q=${context.codeWord}`);
    const { hits } = await context.client.json(searchResponse, { path });
    if (hits.length > 0) return `${hits.length} hits`;
    throw new SmokeFailure({
      tried: `GET ${context.client.url}${path}`,
      came: 'no hit for a word of the first message',
      remedy: 'The deployment may be of another version than this check.',
    });
  },
};

/** Waits until a conversation is nowhere any more: the worker erases it. */
async function untilGone(context: SmokeContext): Promise<void> {
  const { client, options } = context;
  const path = conversationPath(context);
  const startedAt = performance.now();
  for (;;) {
    const { status } = await client.open({ path, expect: [200, 404] });
    if (status === 404) return;
    if (performance.now() - startedAt > options.waitMs)
      throw new SmokeFailure({
        tried: `GET ${client.url}${path}`,
        came: `still there ${Math.round(options.waitMs / 1_000)} s after it was erased`,
        remedy:
          'The worker finishes erasures: see what is said about compactions that stay QUEUED.',
      });
    await delay(options.pollMs);
  }
}

const erase: Step<SmokeContext> = {
  name: 'erase',
  needs: ['create'],
  run: async (context) => {
    const { client, options } = context;
    const path = conversationPath(context, '?permanent=true');
    const response = await client.open({ method: 'DELETE', path });
    await response.arrayBuffer();
    if (options.erasesUser)
      await (await client.open({ method: 'POST', path: '/v1/users/me:erase' })).arrayBuffer();
    await untilGone(context);
    return options.erasesUser
      ? 'the conversation and the user of this check'
      : 'the conversation of this check, and nothing else of the user';
  },
};

/** What is left of a conversation, and that nothing is at the end. */
export const closingSteps: readonly Step<SmokeContext>[] = [transcript, exported, search, erase];
