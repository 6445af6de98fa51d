import { randomUUID } from 'node:crypto';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { conversationWithContextResponse } from '#shared/wire/resources/conversations.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { remedyFor } from './remedies.ts';
import { conversationPath, waitFor, type SmokeContext } from './smoke-context.ts';

const ON_ITS_WAY = ['QUEUED', 'RUNNING', 'VERIFYING'];

const remedies = {
  queued:
    'No worker took it. Look, in this order: (1) log of chat: compaction_publish_failed means that it may not publish or that there is no such topic (roles/pubsub.publisher, COMPACTION_TOPIC). (2) Log of the worker: no line at all means that the push does not arrive (the subscription of recap-compaction, run.invoker of recap-push), 401 or 403 that it is not taken: by Cloud Run, which takes the audience https://recap-compaction-PROJECT_NUMBER.REGION.run.app of a service with that address, or by the worker (PUSH_AUDIENCE, PUSH_SERVICE_ACCOUNT), `the environment is not usable` that it does not start. (3) `npm run ops -- dead-letters` shows dead letters, which were refused eight times. The commands stand in terraform/alerts/backlog-old.md.',
  running:
    'A worker took it and has not ended it: look for compaction_ lines of this conversation in the log of the worker; a summariser that does not answer is tried for 500 s.',
  failed:
    'The worker works, the summary does not: terraform/alerts/compactions-failing.md says what to do about each outcome and reason, the log of the worker more of this one.',
} as const;

export const compact: Step<SmokeContext> = {
  name: 'compact',
  needs: ['fill'],
  run: async (context) => {
    const { client, options } = context;
    const path = conversationPath(context, ':compact');
    // 409: the threshold was crossed, and one is on its way already.
    const response = await client.open({
      path,
      body: { requestId: randomUUID() },
      expect: [202, 409],
    });
    await response.arrayBuffer();
    let latest = '';
    const ended = await waitFor(options, async () => {
      const seen = await client.json(conversationWithContextResponse, {
        path: conversationPath(context),
      });
      const state = seen.context.compaction?.state ?? 'QUEUED';
      if (state !== latest) options.progress(`compact: ${state}`);
      latest = state;
      return ON_ITS_WAY.includes(state) ? undefined : seen;
    });
    const tried = `POST ${client.url}${path}`;
    if (ended === undefined)
      throw new SmokeFailure({
        tried,
        came: `still ${latest} after ${options.waitMs / 1_000} s`,
        remedy: latest === 'QUEUED' ? remedies.queued : remedies.running,
      });
    const { state = '', reason = '', message = '' } = ended.context.compaction ?? {};
    if (ended.generation > 0)
      return `generation ${ended.generation}, ${ended.context.tokens.toLocaleString('en')} tokens now`;
    if (state === 'NOOP') {
      context.isNoop = true;
      return `NOOP (${reason}): ${message}`;
    }
    throw new SmokeFailure({
      tried,
      came: `${state}${reason === '' ? '' : ` (${reason})`}: ${JSON.stringify(message)}`,
      remedy: reason.startsWith('MODEL_')
        ? `${remedyFor({ status: 200, reason })} It is about the worker’s COMPRESSOR_MODEL here, and its account recap-compaction.`
        : remedies.failed,
    });
  },
};

export const snapshot: Step<SmokeContext> = {
  name: 'snapshot',
  needs: ['compact'],
  run: async (context) => {
    if (context.isNoop) return { notRun: 'there was nothing to fold' };
    const path = conversationPath(context, '/context');
    const { items, generation } = await context.client.json(contextResponse, { path });
    const found = items.find(({ kind }) => kind === 'snapshot');
    const tried = `GET ${context.client.url}${path}`;
    if (found === undefined)
      throw new SmokeFailure({
        tried,
        came: `generation ${generation} has no snapshot`,
        remedy:
          'The summary cannot be read, or was erased: look for history_unreadable in the log of chat.',
      });
    if (JSON.stringify(items).includes(context.codeWord))
      return `${found.tokens} tokens; what was said first is still known`;
    throw new SmokeFailure({
      tried,
      came: `the code word ${context.codeWord} of the first message is lost`,
      remedy:
        'The summariser does badly: look at COMPRESSOR_MODEL, and at the report of GET …/compactions.',
    });
  },
};
