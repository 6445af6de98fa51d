import { recapCommand } from '#infra/command-line.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import {
  conversationResponse,
  conversationWithContextResponse,
} from '#shared/wire/resources/conversations.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { healthResponse } from '#shared/wire/resources/usage.ts';
import { remedyFor } from './remedies.ts';
import { SmokeFailure, type Step, runSteps, type StepResult } from './run-steps.ts';
import {
  type SmokeClient,
  type StreamRead,
  createSmokeClient,
  FEWEST_PIECES,
  isBuffered,
  readStream,
} from './smoke-client.ts';
import { randomUUID, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface SmokeOptions {
  /** How long a compaction, and an erasure, may take. */
  waitMs: number;
  pollMs: number;
  /** A word that nobody else says; absent: a random one. */
  codeWord?: string | undefined;
  /** Signs a user in: the headers of their calls, and who it is, for people. Throws SmokeFailure. */
  signIn: () => Promise<{ headers: Readonly<Record<string, string>>; who: string }>;
  /** Whether the check made its user itself, who is then erased as well. */
  isOwnUser: boolean;
  /** Tells where a long step stands. */
  progress: (text: string) => void;
}

/** What one run has found out; each step adds to it. */
interface SmokeContext {
  /** Without a token until `sign-in`. */
  client: SmokeClient;
  options: SmokeOptions;
  conversationId: string;
  /** A word that nobody else says, which must survive. */
  codeWord: string;
  first?: StreamRead;
  /** The compaction did what there was to do, but made no snapshot. */
  isNoop?: boolean;
}

const conversationPath = ({ conversationId }: SmokeContext, rest = ''): string =>
  `/v1/conversations/${conversationId}${rest}`;

/** Looks until something is there; undefined when that takes longer than the run may wait. */
async function waitFor<Found>(
  { waitMs, pollMs }: Pick<SmokeOptions, 'waitMs' | 'pollMs'>,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const startedAt = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() - startedAt > waitMs) return found;
    await delay(pollMs);
  }
}

const health: Step<SmokeContext> = {
  name: 'health',
  needs: [],
  run: async ({ client }) => {
    await client.json(healthResponse, { path: '/v1/health' });
    return client.url;
  },
};

const signIn: Step<SmokeContext> = {
  name: 'sign-in',
  needs: ['health'],
  run: async (context) => {
    const { headers, who } = await context.options.signIn();
    context.client = createSmokeClient({ url: context.client.url, headers });
    return who;
  },
};

/** Low enough that a few messages are something to fold. */
const THRESHOLD_TOKENS = 2_000;
const FILLING_MESSAGES = 6;

const newMessage = (text: string) => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

const create: Step<SmokeContext> = {
  name: 'create',
  needs: ['sign-in'],
  run: async (context) => {
    const { client, conversationId: id } = context;
    const path = '/v1/conversations';
    const title = 'Smoke test';
    const body = { id, title, settings: { thresholdTokens: THRESHOLD_TOKENS } };
    try {
      await client.json(conversationResponse, { path, body });
      return `threshold ${THRESHOLD_TOKENS} tokens`;
    } catch (error) {
      const isForbidden =
        error instanceof SmokeFailure &&
        /FIELD_NOT_WRITABLE|THRESHOLD_TOO/.test(error.failure.came);
      if (!isForbidden) throw error;
      await client.json(conversationResponse, { path, body: { id, title } });
      return 'the deployment takes no thresholds of apps (CLIENT_WRITABLE): a compaction is only asked for by :compact';
    }
  },
};

/** Why an answer that began has failed, as its turn tells. */
async function failureOfTurn(
  context: SmokeContext,
  tried: string,
  turnId: string,
): Promise<SmokeFailure> {
  const turn = await context.client.json(turnResponse, {
    path: conversationPath(context, `/turns/${turnId}`),
  });
  const reason = turn.error?.reason;
  return new SmokeFailure({
    tried,
    came: `HTTP 200, then the answer failed with ${reason ?? turn.state}: ${JSON.stringify(turn.error?.message ?? '')}, turn ${turnId}`,
    remedy: remedyFor({ status: 200, reason }),
  });
}

/** Has something to remember, and an answer that takes long enough to come in pieces. */
export const firstText = (codeWord: string): string =>
  `Remember this code word: ${codeWord}. Confirm it, then count from one to sixty in words.`;

const send: Step<SmokeContext> = {
  name: 'send',
  needs: ['create'],
  run: async (context) => {
    const { client, codeWord } = context;
    const path = conversationPath(context, '/messages');
    const tried = `POST ${client.url}${path} (SSE)`;
    const startedAt = performance.now();
    const response = await client.open({
      path,
      body: newMessage(firstText(codeWord)),
      headers: { accept: 'text/event-stream' },
    });
    const read = await readStream(response, { tried, startedAt });
    if (read.hasFailed || read.text === '') throw await failureOfTurn(context, tried, read.turnId);
    context.first = read;
    return `first text after ${Math.round(read.textAtMs[0] ?? Number.NaN)} ms, ${read.events} events`;
  },
};

const streaming: Step<SmokeContext> = {
  name: 'streaming',
  needs: ['send'],
  run: ({ client, first }) => {
    const textAtMs = first?.textAtMs ?? [];
    if (textAtMs.length < FEWEST_PIECES)
      return { notRun: 'too few pieces of text to tell whether something holds them back' };
    if (!isBuffered(textAtMs)) return `${textAtMs.length} pieces of text, one after another`;
    const spreadMs = Math.round((textAtMs.at(-1) ?? 0) - (textAtMs[0] ?? 0));
    throw new SmokeFailure({
      tried: `the stream of ${client.url}`,
      came: `${textAtMs.length} pieces of text came within ${spreadMs} ms: all at once`,
      remedy:
        'Something between here and chat holds events back: turn buffering and compression off there (nginx: proxy_buffering off), and do not send streams through Firebase Hosting.',
    });
  },
};

const FILLING =
  'We want a quiet room near the station, breakfast included, a place for two bicycles, and a train that leaves after nine. The budget is 240 euros for both nights, and the hotel must take a small dog. ';

const fill: Step<SmokeContext> = {
  name: 'fill',
  needs: ['send'],
  run: async (context) => {
    const path = conversationPath(context, '/messages');
    for (let count = 1; count <= FILLING_MESSAGES; count++) {
      context.options.progress(`fill: message ${count} of ${FILLING_MESSAGES}`);
      const text = `Note ${count} about the trip to town number ${count * 17}. ${FILLING.repeat(6)}Answer in one short sentence.`;
      await context.client.json(sendMessageResponse, {
        path,
        body: newMessage(text),
        headers: { accept: 'application/json' },
      });
    }
    return `${FILLING_MESSAGES} messages`;
  },
};

const ON_ITS_WAY = ['QUEUED', 'RUNNING', 'VERIFYING'];

const remedies = {
  queued: `No worker took it. Look, in this order: (1) log of chat: compaction_publish_failed means that it may not publish or that there is no such topic (roles/pubsub.publisher, COMPACTION_TOPIC). (2) Log of the worker: no line at all means that the push does not arrive (the subscription of recap-compaction, run.invoker of recap-push), 401 or 403 that it is not taken: by Cloud Run, which takes the audience https://recap-compaction-PROJECT_NUMBER.REGION.run.app of a service with that address, or by the worker (PUSH_AUDIENCE, PUSH_SERVICE_ACCOUNT), \`the environment is not usable\` that it does not start. (3) \`${recapCommand('ops', 'dead-letters')}\` shows dead letters, which were refused eight times. The commands stand in terraform/alerts/backlog-old.md.`,
  running:
    'A worker took it and has not ended it: look for compaction_ lines of this conversation in the log of the worker; a summariser that does not answer is tried for 500 s.',
  failed:
    'The worker works, the summary does not: terraform/alerts/compactions-failing.md says what to do about each outcome and reason, the log of the worker more of this one.',
} as const;

const compact: Step<SmokeContext> = {
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

const snapshot: Step<SmokeContext> = {
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

const erase: Step<SmokeContext> = {
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

const steps = [health, signIn, create, send, streaming, fill, compact, snapshot, erase];

/**
 * Checks a deployment from end to end by its public API, with a conversation of its own, which it erases again.
 * Resolves to what became of each step, in order.
 */
export async function runSmoke(
  url: string,
  options: SmokeOptions,
  tell: (result: StepResult) => void = () => undefined,
): Promise<StepResult[]> {
  const context: SmokeContext = {
    client: createSmokeClient({ url, headers: {} }),
    options,
    conversationId: randomUUID(),
    // With a figure in it: a fact that every summary must keep, which a bare word is not.
    codeWord: options.codeWord ?? `zebra${randomInt(100_000, 1_000_000)}`,
  };
  return runSteps(steps, context, tell);
}
