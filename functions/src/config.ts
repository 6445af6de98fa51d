import type { PolicySettings } from '#shared/compaction/policy-settings.ts';
import { AppError } from '#shared/errors.ts';
import { isAllowedWebhook } from '#shared/hooks/webhook.ts';
import type { RoutingModels } from '#shared/routing/routing.ts';
import { serviceConstants, type ServiceConstants } from './config/constants.ts';
import { environmentSchema } from './config/environment.ts';
import { unknownModels } from './config/model-names.ts';
import type { RemotePolicy } from './config/remote-policy.ts';
import { readRoutingModels, routingProblems } from './config/routing-variables.ts';
import type { AppMemory } from './memory/app-memory.ts';
import type { ModelWatch } from './models/model-watch.ts';
import type { z } from 'zod';

const isDemoProject = (projectId: string) => projectId.startsWith('demo-');

const checkedEnvironmentSchema = environmentSchema.superRefine((environment, context) => {
  if (environment.HOOK_HOSTS.length > 0 && environment.HOOK_SIGNING_KEY === undefined)
    context.addIssue({
      code: 'custom',
      path: ['HOOK_SIGNING_KEY'],
      message: 'must be set where HOOK_HOSTS names hosts: calls are signed',
    });
  const { EVENT_WEBHOOK_URL: webhookUrl, HOOK_HOSTS: hosts } = environment;
  const allowsHttp = isDemoProject(environment.GOOGLE_CLOUD_PROJECT);
  if (webhookUrl !== undefined && !isAllowedWebhook(webhookUrl, { hosts, allowsHttp }))
    context.addIssue({
      code: 'custom',
      path: ['EVENT_WEBHOOK_URL'],
      message: 'must be an https address whose host HOOK_HOSTS names, without a user name',
    });
  const { UPLOADS_BUCKET: bucket, UPLOADS_SIGNER: signer } = environment;
  if (bucket !== undefined && signer === undefined && !allowsHttp)
    context.addIssue({
      code: 'custom',
      path: ['UPLOADS_SIGNER'],
      message: 'must be set with UPLOADS_BUCKET: the e-mail of the account that signs addresses',
    });
  for (const { variable, message } of [
    ...routingProblems(environment),
    ...unknownModels(environment),
  ])
    context.addIssue({ code: 'custom', path: [variable], message });
  if (environment.APP_CHECK !== 'off' && environment.APP_CHECK_PROJECT_NUMBER === undefined)
    context.addIssue({
      code: 'custom',
      path: ['APP_CHECK_PROJECT_NUMBER'],
      message: 'must be set where APP_CHECK is not off: tokens are made out to it',
    });
});

type Environment = z.infer<typeof environmentSchema>;

export interface Config extends Readonly<Environment>, ServiceConstants {
  /** Settings of the policy that no variable has, for measurements: as if the environment gave them. */
  readonly policySettings?: PolicySettings;
  /** What the document `config/compaction` sets, which changes while the process runs. */
  readonly remotePolicy?: RemotePolicy;
  /** Clock and log of the table of models; absent where no process runs: then nothing is retired. */
  readonly modelWatch?: ModelWatch;
  /** What the document `config/memory` says to all conversations, which changes while the process runs. */
  readonly appMemory?: AppMemory;
  /** The models among which `auto` conversations choose; undefined: there are none. */
  readonly routing: RoutingModels | undefined;
  /** Unsigned ID tokens are accepted: emulator and `demo-` project, both. */
  readonly allowUnsignedIdTokens: boolean;
  /** Pushes without a token are accepted: emulator and `demo-` project, both. */
  readonly allowUnsignedPush: boolean;
  /** Webhooks may be called without encryption: `demo-` project. */
  readonly allowHttpHooks: boolean;
  /** Nobody has credentials: `demo-` project. */
  readonly isDemo: boolean;
}

const moneyLimits = [
  'COMPACTIONS_PER_HOUR',
  'COMPACTION_DAILY_TOKENS',
  'USER_DAILY_MESSAGES',
  'USER_DAILY_TOKENS',
  'USER_REQUESTS_PER_MINUTE',
  'ANONYMOUS_DAILY_MESSAGES',
  'ANONYMOUS_DAILY_TOKENS',
  'USER_DAILY_USD',
  'GLOBAL_DAILY_USD',
] as const;

/** The same of the constants. */
const noConstantLimits: Partial<ServiceConstants> = {
  ANONYMOUS_REQUESTS_PER_MINUTE: 0,
  USER_DAILY_CREATIONS: 0,
  ANONYMOUS_DAILY_CREATIONS: 0,
  USER_DAILY_UPLOADS: 0,
  STREAMS_PER_USER: 0,
  USER_CALLS_AT_ONCE: 0,
  USER_CALLS_PER_MINUTE: 0,
};

/** Limits that protect money are off where there is none to lose, unless they are asked for. */
const demoLimits = (
  known: Readonly<Record<string, unknown>>,
): Partial<Record<(typeof moneyLimits)[number], number>> =>
  Object.fromEntries(
    moneyLimits.filter((name) => known[name] === undefined).map((name) => [name, 0]),
  );

/** A title is a call that nobody sent a message for: measurements count calls of the model. */
const demoTitles = (known: Readonly<Record<string, unknown>>) => ({
  ...(known['TITLES'] === undefined && { TITLES: 'off' as const }),
});

/** Firebase Auth is not there to be asked beside an emulator; who has it there asks for it. */
const demoChecks = (known: Readonly<Record<string, unknown>>) => ({
  ...(known['CHECK_REVOKED'] === undefined && { CHECK_REVOKED: 'off' as const }),
});

/**
 * The frozen configuration. `constants`: others than the service's own, for tests. Throws AppError INVALID_CONFIGURATION
 * that lists every problem by variable.
 */
export function parseConfig(
  environment: Readonly<Record<string, string | undefined>>,
  constants: Partial<ServiceConstants> = {},
): Config {
  const known = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  // Read once: compiling the schema would take longer than reading by it.
  const parsed = checkedEnvironmentSchema.safeParse(known, { jitless: true });
  if (!parsed.success) {
    const problems = parsed.error.issues
      .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
      .join('; ');
    throw new AppError({
      status: 'FAILED_PRECONDITION',
      reason: 'INVALID_CONFIGURATION',
      message: `the environment is not usable: ${problems}`,
      publicMessage: 'The service is not configured correctly.',
      cause: parsed.error,
    });
  }
  const isDemo = isDemoProject(parsed.data.GOOGLE_CLOUD_PROJECT);
  return Object.freeze({
    ...serviceConstants,
    ...(isDemo && noConstantLimits),
    ...constants,
    ...parsed.data,
    ...(isDemo && demoLimits(known)),
    ...(isDemo && demoChecks(known)),
    ...(isDemo && demoTitles(known)),
    routing: readRoutingModels(parsed.data),
    allowUnsignedIdTokens: isDemo && parsed.data.FIREBASE_AUTH_EMULATOR_HOST !== undefined,
    allowHttpHooks: isDemo,
    isDemo,
    allowUnsignedPush: isDemo && parsed.data.PUBSUB_EMULATOR_HOST !== undefined,
  });
}
