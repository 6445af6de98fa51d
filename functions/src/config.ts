import { isKnownModel, unknownModelAdvice } from '#shared/models/known-models.ts';
import type { PolicySettings } from '#shared/compaction/policy-settings.ts';
import { AppError } from '#shared/lib/errors.ts';
import { isAllowedWebhook } from '#shared/hooks/webhook.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import { isRouted, type RoutingModels } from '#shared/models/routing.ts';
import { serviceConstants, type ServiceConstants } from './config/constants.ts';
import { environmentSchema, type Environment } from './config/environment.ts';
import type { AppMemory, RemotePolicy } from './config/remote-documents.ts';
import type { ModelWatch } from './models/model-watch.ts';

interface Problem {
  variable: keyof Environment;
  message: string;
}

const isDemoProject = (projectId: string) => projectId.startsWith('demo-');

/** What one variable demands of another. */
function pairProblems(environment: Environment): Problem[] {
  const { EVENT_WEBHOOK_URL: webhookUrl, HOOK_HOSTS: hosts } = environment;
  const isDemo = isDemoProject(environment.GOOGLE_CLOUD_PROJECT);
  const problems: Problem[] = [];
  if (hosts.length > 0 && environment.HOOK_SIGNING_KEY === undefined)
    problems.push({
      variable: 'HOOK_SIGNING_KEY',
      message: 'must be set where HOOK_HOSTS names hosts: calls are signed',
    });
  if (webhookUrl !== undefined && !isAllowedWebhook(webhookUrl, { hosts, allowsHttp: isDemo }))
    problems.push({
      variable: 'EVENT_WEBHOOK_URL',
      message: 'must be an https address whose host HOOK_HOSTS names, without a user name',
    });
  if (environment.UPLOADS_BUCKET !== undefined && !environment.UPLOADS_SIGNER && !isDemo)
    problems.push({
      variable: 'UPLOADS_SIGNER',
      message: 'must be set with UPLOADS_BUCKET: the e-mail of the account that signs addresses',
    });
  if (environment.ADMIN_SERVICE_ACCOUNTS.length > 0 && environment.ADMIN_AUDIENCE === undefined)
    problems.push({
      variable: 'ADMIN_AUDIENCE',
      message:
        'must be set where ADMIN_SERVICE_ACCOUNTS names accounts: their tokens are made out to it',
    });
  if (environment.APP_CHECK !== 'off' && environment.APP_CHECK_PROJECT_NUMBER === undefined)
    problems.push({
      variable: 'APP_CHECK_PROJECT_NUMBER',
      message: 'must be set where APP_CHECK is not off: tokens are made out to it',
    });
  return problems;
}

/** Models that are `auto` where one must be named, or that the table does not know: most often misspelt. */
function modelProblems(environment: Environment): Problem[] {
  const { MODEL_WINDOWS: windows, MODEL_PRICES: prices } = environment;
  const known = { models: modelRegistry, windows, prices, named: [] };
  const variables = ['MODEL', 'ROUTING_MODELS', 'QUICK_MODEL', 'COMPRESSOR_MODEL'] as const;
  return variables.flatMap((variable) =>
    [environment[variable] ?? []].flat().flatMap((model) => {
      if (!isRouted(model))
        return isKnownModel(model, known)
          ? []
          : {
              variable,
              message: `${model} is no model that is known here. ${unknownModelAdvice(known)}. A newer one is taken where MODEL_WINDOWS names it, e.g. ${JSON.stringify({ [model]: 1_048_576 })}`,
            };
      if (variable !== 'MODEL')
        return {
          variable,
          message: 'must be the id of a model; only MODEL and conversations can be auto',
        };
      return environment.ROUTING_MODELS.length > 0
        ? []
        : { variable, message: 'is auto, which needs ROUTING_MODELS' };
    }),
  );
}

const checkedEnvironmentSchema = environmentSchema.superRefine((environment, context) => {
  for (const { variable, message } of [...pairProblems(environment), ...modelProblems(environment)])
    context.addIssue({ code: 'custom', path: [variable], message });
});

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

/**
 * What a `demo-` project has instead of the defaults: limits that protect money are off where there is none to lose; a title
 * is a call that nobody sent a message for, and measurements count calls of the model; Firebase Auth is not there to be
 * asked beside an emulator.
 */
const demoDefaults: Partial<Record<keyof Environment, string>> = {
  COMPACTIONS_PER_HOUR: '0',
  COMPACTION_DAILY_TOKENS: '0',
  USER_DAILY_MESSAGES: '0',
  USER_DAILY_TOKENS: '0',
  USER_REQUESTS_PER_MINUTE: '0',
  ANONYMOUS_DAILY_MESSAGES: '0',
  ANONYMOUS_DAILY_TOKENS: '0',
  USER_DAILY_USD: '0',
  GLOBAL_DAILY_USD: '0',
  TITLES: 'off',
  CHECK_REVOKED: 'off',
};

/** The same of the constants. */
const demoConstants: Partial<ServiceConstants> = {
  ANONYMOUS_REQUESTS_PER_MINUTE: 0,
  USER_DAILY_CREATIONS: 0,
  ANONYMOUS_DAILY_CREATIONS: 0,
  USER_DAILY_UPLOADS: 0,
  STREAMS_PER_USER: 0,
  USER_CALLS_AT_ONCE: 0,
  USER_CALLS_PER_MINUTE: 0,
};

/** INVALID_CONFIGURATION; `problems` begin with their variables. */
export const configurationError = (problems: string, cause?: unknown) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'INVALID_CONFIGURATION',
    message: `the environment is not usable: ${problems}`,
    publicMessage: 'The service is not configured correctly.',
    cause,
  });

/**
 * The frozen configuration. `constants`: others than the service's own, for tests. Throws AppError INVALID_CONFIGURATION
 * that lists every problem by variable.
 */
export function parseConfig(
  environment: Readonly<Record<string, string | undefined>>,
  constants: Partial<ServiceConstants> = {},
): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const isDemo = isDemoProject(given['GOOGLE_CLOUD_PROJECT'] ?? '');
  // Read once: compiling the schema would take longer than reading by it.
  const parsed = checkedEnvironmentSchema.safeParse(
    { ...(isDemo && demoDefaults), ...given },
    { jitless: true },
  );
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );
    throw configurationError(problems.join('; '), parsed.error);
  }
  const [fast, strong] = parsed.data.ROUTING_MODELS;
  return Object.freeze({
    ...serviceConstants,
    ...(isDemo && demoConstants),
    ...constants,
    ...parsed.data,
    routing: fast !== undefined && strong !== undefined ? { fast, strong } : undefined,
    allowUnsignedIdTokens: isDemo && parsed.data.FIREBASE_AUTH_EMULATOR_HOST !== undefined,
    allowHttpHooks: isDemo,
    isDemo,
    allowUnsignedPush: isDemo && parsed.data.PUBSUB_EMULATOR_HOST !== undefined,
  });
}
