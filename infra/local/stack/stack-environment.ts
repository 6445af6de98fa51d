import { CLIENT_WRITABLE_FIELDS } from '#functions/config/environment.ts';
import { LOCAL_SERVER } from '#functions/local-server.ts';

/**
 * What Node is told where the functions run, as deployed (terraform/functions.tf). Within 512 MiB V8 would give what
 * lives shortly 1 MiB, and a stream took a third more of the processor: ADR 0027.
 */
export const deployedNodeOptions = '--max-semi-space-size=32';

type Environment = Readonly<Record<string, string | undefined>>;

export const localProjectId = 'demo-recap';

/** Whom the page and the printed calls act for. */
export const LOCAL_USER = 'ada';

/** What decides whom a Google SDK talks to; a setting of the user's shell must not leak into the stack. */
const withheld = [
  'FIRESTORE_EMULATOR_HOST',
  'PUBSUB_EMULATOR_HOST',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'GEMINI_API_KEY',
  'GEMINI_BASE_URL',
  'NODE_OPTIONS',
  'VITEST',
  'PORT',
];

/** Which model answers. */
export type ModelChoice =
  | { kind: 'fake-gemini' }
  | { kind: 'gemini'; apiKey: string }
  | { kind: 'vertex'; project: string; location: string; credentials: string | undefined };

/**
 * The fake Gemini, unless the user's shell has a key of the Gemini API, or the variables with which Google's
 * SDK chooses Vertex AI (GOOGLE_GENAI_USE_VERTEXAI=true and GOOGLE_CLOUD_PROJECT; application default
 * credentials sign the calls).
 */
export function chooseModel(environment: Environment): ModelChoice {
  const apiKey = environment.GEMINI_API_KEY ?? '';
  if (apiKey !== '') return { kind: 'gemini', apiKey };
  const project = environment.GOOGLE_CLOUD_PROJECT ?? '';
  if (environment.GOOGLE_GENAI_USE_VERTEXAI !== 'true' || project === '')
    return { kind: 'fake-gemini' };
  const location = environment.GOOGLE_CLOUD_LOCATION ?? 'global';
  const credentials = environment.GOOGLE_APPLICATION_CREDENTIALS;
  return { kind: 'vertex', project, location, credentials };
}

function modelVariables(model: ModelChoice, fakeGeminiUrl: string | undefined): Environment {
  switch (model.kind) {
    case 'fake-gemini':
      return { GEMINI_API_KEY: 'fake-gemini', GEMINI_BASE_URL: fakeGeminiUrl };
    case 'gemini':
      return { GEMINI_API_KEY: model.apiKey };
    case 'vertex':
      return {
        VERTEX_PROJECT: model.project,
        VERTEX_LOCATION: model.location,
        GOOGLE_APPLICATION_CREDENTIALS: model.credentials,
      };
  }
}

/**
 * The environment of the functions on this machine: the user's shell, without what would lead an SDK
 * elsewhere, a `demo-` project (so that unsigned tokens and pushes are accepted), a server that may act for users, every
 * field writable by clients, and `settings` on top.
 */
export function stackEnvironment(options: {
  shell: Environment;
  model: ModelChoice;
  fakeGeminiUrl?: string | undefined;
  /** Absent in the embedded mode. */
  emulators?: { firestoreHost: string; pubsubHost: string } | undefined;
  settings?: Environment;
}): Record<string, string | undefined> {
  const shell = Object.entries(options.shell).filter(([name]) => !withheld.includes(name));
  return {
    ...Object.fromEntries(shell),
    NODE_ENV: 'production',
    NODE_OPTIONS: deployedNodeOptions,
    METADATA_SERVER_DETECTION: 'none',
    // A part of the stack is killed three seconds after it was told to end.
    DRAIN_MS: options.shell.DRAIN_MS ?? '1000',
    GOOGLE_CLOUD_PROJECT: localProjectId,
    // Nobody listens there: with a demo- project the variable alone allows unsigned tokens and pushes.
    FIREBASE_AUTH_EMULATOR_HOST: '127.0.0.1:9099',
    PUBSUB_EMULATOR_HOST: options.emulators?.pubsubHost ?? '127.0.0.1:8085',
    ...(options.emulators && { FIRESTORE_EMULATOR_HOST: options.emulators.firestoreHost }),
    CLIENT_WRITABLE: options.shell.CLIENT_WRITABLE ?? CLIENT_WRITABLE_FIELDS.join(','),
    ADMIN_SERVICE_ACCOUNTS: options.shell.ADMIN_SERVICE_ACCOUNTS ?? LOCAL_SERVER.account,
    ADMIN_AUDIENCE: options.shell.ADMIN_AUDIENCE ?? LOCAL_SERVER.audience,
    ...modelVariables(options.model, options.fakeGeminiUrl),
    ...options.settings,
  };
}

/** Variables that hold no secret, and by which another process finds what the functions work on. */
const OPEN_VARIABLES = [
  'GOOGLE_CLOUD_PROJECT',
  'FIRESTORE_EMULATOR_HOST',
  'FIRESTORE_DATABASE',
  'PUBSUB_EMULATOR_HOST',
  'COMPACTION_TOPIC',
  'EVENTS_TOPIC',
  'UPLOADS_BUCKET',
  'UPLOADS_URL',
  'THRESHOLD_TOKENS',
  'THRESHOLD_FRACTION',
  'MODEL_WINDOWS',
  'SUMMARY_STRATEGY',
  'COMPACTIONS_PER_HOUR',
  'COMPACTION_DAILY_TOKENS',
  'MEMORY_BUDGET_TOKENS',
  'BUILT_IN_TOOLS',
  'USER_DAILY_USD',
  'GLOBAL_DAILY_USD',
] as const;

/** Those of `environment` that are set and may be told. */
export const openVariables = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    OPEN_VARIABLES.flatMap((name) => {
      const value = environment[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
