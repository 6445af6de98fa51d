import { healthResponse } from '#shared/wire/resources/usage.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { createSmokeClient } from './smoke-client.ts';
import { conversationPath, waitFor, type SmokeContext } from './smoke-context.ts';

export const health: Step<SmokeContext> = {
  name: 'health',
  needs: [],
  run: async ({ client }) => {
    await client.json(healthResponse, { path: '/v1/health' });
    return client.url;
  },
};

export const signIn: Step<SmokeContext> = {
  name: 'sign-in',
  needs: ['health'],
  run: async (context) => {
    const { headers, who } = await context.options.signIn();
    context.client = createSmokeClient({ url: context.client.url, headers });
    return who;
  },
};

export const erase: Step<SmokeContext> = {
  name: 'erase',
  needs: ['create'],
  run: async (context) => {
    const { client, options } = context;
    const path = conversationPath(context, '?permanent=true');
    await (await client.open({ method: 'DELETE', path })).arrayBuffer();
    if (options.isOwnUser)
      await (await client.open({ method: 'POST', path: '/v1/users/me:erase' })).arrayBuffer();
    const conversation = conversationPath(context);
    // The worker erases it.
    const isGone = await waitFor(options, async () => {
      const { status } = await client.open({ path: conversation, expect: [200, 404] });
      return status === 404 ? true : undefined;
    });
    if (!isGone)
      throw new SmokeFailure({
        tried: `GET ${client.url}${conversation}`,
        came: `still there ${options.waitMs / 1_000} s after it was erased`,
        remedy:
          'The worker finishes erasures: see what is said about compactions that stay QUEUED.',
      });
    return options.isOwnUser
      ? 'the conversation and the user of this check'
      : 'the conversation of this check, and nothing else of the user';
  },
};
