import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { compactionRecordResponse } from '#shared/wire/resources/compaction.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { conversationWithContextResponse } from '#shared/wire/resources/conversations.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { remedyFor } from './remedies.ts';
import { conversationPath, type SmokeContext } from './smoke-context.ts';

const ON_ITS_WAY = new Set(['QUEUED', 'RUNNING', 'VERIFYING']);

const look = async (context: SmokeContext) =>
  context.client.json(conversationWithContextResponse, { path: conversationPath(context) });
type Looked = z.infer<typeof conversationWithContextResponse>;

const compactCall = (context: SmokeContext) =>
  `POST ${context.client.url}${conversationPath(context, ':compact')}`;

const remedies = {
  queued:
    'No worker took it. Look, in this order: (1) log of chat: compaction_publish_failed means that it may not publish or that there is no such topic (roles/pubsub.publisher, COMPACTION_TOPIC). (2) Log of the worker: no line at all means that the push does not arrive (the subscription of recap-compaction, run.invoker of recap-push), 401 or 403 that it is not taken: by Cloud Run, which takes the audience https://recap-compaction-PROJECT_NUMBER.REGION.run.app of a service with that address, or by the worker (PUSH_AUDIENCE, PUSH_SERVICE_ACCOUNT), `the environment is not usable` that it does not start. (3) `npm run ops -- dead-letters list` shows dead letters, which were refused eight times. The commands stand in terraform/alerts/backlog-old.md.',
  running:
    'A worker took it and has not ended it: look for compaction_ lines of this conversation in the log of the worker; a summariser that does not answer is tried for COMPACTION_TIMEOUT_MS. --wait-seconds waits longer.',
  failed:
    'The worker works, the summary does not: terraform/alerts/compactions-failing.md says what to do about each outcome and reason, the log of the worker more of this one.',
} as const;

/** Follows a compaction until it is in none of these states. Throws SmokeFailure when that takes longer than the run may wait. */
async function untilOutOf(states: ReadonlySet<string>, context: SmokeContext): Promise<Looked> {
  const { options } = context;
  const startedAt = performance.now();
  let told = '';
  for (;;) {
    const looked = await look(context);
    const state = looked.context.compaction?.state ?? 'QUEUED';
    const waitedMs = performance.now() - startedAt;
    if (!states.has(state)) return looked;
    if (state !== told) options.progress(`compact: ${state}`);
    told = state;
    if (waitedMs > options.waitMs)
      throw new SmokeFailure({
        tried: compactCall(context),
        came: `still ${state} after ${Math.round(waitedMs / 1_000)} s`,
        remedy: state === 'QUEUED' ? remedies.queued : remedies.running,
      });
    await delay(options.pollMs);
  }
}

/** Only a push that Cloud Run and the worker took, with its audience and its account, starts a compaction. */
const push: Step<SmokeContext> = {
  name: 'push',
  needs: ['fill'],
  run: async (context) => {
    // 409: the threshold was crossed, and one is on its way already.
    const response = await context.client.open({
      path: conversationPath(context, ':compact'),
      body: { requestId: randomUUID() },
      expect: [202, 409],
    });
    await response.arrayBuffer();
    await untilOutOf(new Set(['QUEUED']), context);
    return 'the worker took the push: its audience and its account are right';
  },
};

const compact: Step<SmokeContext> = {
  name: 'compact',
  needs: ['push'],
  run: async (context) => {
    const tried = compactCall(context);
    const { generation, context: seen } = await untilOutOf(ON_ITS_WAY, context);
    const { state = '', reason = '', message = '' } = seen.compaction ?? {};
    context.generation = generation;
    if (generation > 0)
      return `generation ${generation}, ${seen.tokens.toLocaleString('en')} tokens now`;
    if (state === 'NOOP') {
      context.isNoop = true;
      return `NOOP (${reason}): ${message}`;
    }
    const ofModel = reason.startsWith('MODEL_')
      ? `${remedyFor({ status: 200, reason })} It is about the worker’s COMPRESSOR_MODEL here, and its account recap-compaction.`
      : remedies.failed;
    throw new SmokeFailure({
      tried,
      came: `${state}${reason === '' ? '' : ` (${reason})`}: ${JSON.stringify(message)}`,
      remedy: ofModel,
    });
  },
};

const contextItems = async (context: SmokeContext) => {
  const path = conversationPath(context, '/context');
  return { path, ...(await context.client.json(contextResponse, { path })) };
};

const snapshot: Step<SmokeContext> = {
  name: 'snapshot',
  needs: ['compact'],
  run: async (context) => {
    if (context.isNoop) return { notRun: 'there was nothing to fold' };
    const { path, items } = await contextItems(context);
    const found = items.find(({ kind }) => kind === 'snapshot');
    const tried = `GET ${context.client.url}${path}`;
    if (found === undefined)
      throw new SmokeFailure({
        tried,
        came: `generation ${context.generation} has no snapshot`,
        remedy:
          'What was stored was not signed by these keys: SNAPSHOT_KEYS must be the same for chat and worker.',
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

const restore: Step<SmokeContext> = {
  name: 'restore',
  needs: ['compact'],
  run: async (context) => {
    if (context.isNoop) return { notRun: 'nothing to go back to' };
    const path = conversationPath(context, ':restore');
    await context.client.json(compactionRecordResponse, { path, body: { generation: 0 } });
    const { items, generation } = await contextItems(context);
    if (!items.some(({ kind }) => kind === 'snapshot'))
      return `generation ${generation} is as before the compaction`;
    throw new SmokeFailure({
      tried: `POST ${context.client.url}${path}`,
      came: `generation ${generation} still has a snapshot`,
      remedy: 'Another compaction may have come between; run the check again.',
    });
  },
};

/** What the worker does, seen from outside. */
export const compactionSteps: readonly Step<SmokeContext>[] = [push, compact, snapshot, restore];
