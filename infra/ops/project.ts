import { parseEnv } from 'node:util';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { parseConfig, type Config } from '#functions/config.ts';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { createDependencies } from '#functions/dependencies.ts';
import type { Logger } from '#shared/ports/ports.ts';
import { ArgumentError, type ConnectionOptions } from './arguments.ts';
import { askChat } from './ask-chat.ts';
import { createDeadLetterBox, type DeadLetterBox } from './letters/dead-letter-box.ts';
import { createDeadLetterClient } from './letters/dead-letter-client.ts';
import { createDocumentTree, type DocumentTree } from './document-tree.ts';
import type { SourceDatabase } from './import/find-discussions.ts';
import { localVariables } from './local-variables.ts';
import type { AskContext } from './verify/load/load-context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface SourceOptions {
  project: string | undefined;
  database: string | undefined;
}

/** A deployment, or a stack on this machine, as commands work on it. */
export interface Project extends AsyncDisposable {
  /** What the chat function works with: commands go through its use cases. */
  chat: ChatDependencies;
  /** Whether the keys that sign snapshots are known here. */
  hasKeys: boolean;
  tree: DocumentTree | undefined;
  /** A database to read from, by default that of Recap; of another project its default one. */
  sourceDatabase: (source: SourceOptions) => SourceDatabase;
  /** Dead letters of a topic. */
  deadLetters: DeadLetterBox | undefined;
  /** What `/context` shows. */
  askContext: AskContext;
  /** For people: which project it is. */
  name: string;
}

/** A project's keys stand in its Secret Manager; without them nothing can be signed, and all else goes on. */
const unknownKeys = () => `ops:${randomBytes(32).toString('base64')}`;

/** Logs of use cases go beside the result, and only what somebody must act on. */
const loggerTo = (note: (text: string) => void): Logger => ({
  log: (severity, event, fields) => {
    if (severity === 'WARNING' || severity === 'ERROR')
      note(`${severity} ${event} ${JSON.stringify(fields)}`);
  },
});

function variablesOf(options: ConnectionOptions, environment: Environment): Environment {
  const { envFile, project, database } = options;
  const isLocal = options.local === true;
  if (options.port !== undefined && !isLocal)
    throw new ArgumentError('--port needs --local: it is the port of a stack on this machine');
  const variables = {
    ...environment,
    ...(envFile !== undefined && fileVariables(envFile)),
    ...(isLocal && localVariables(options.port)),
    ...(project && { GOOGLE_CLOUD_PROJECT: project }),
    ...(database && { FIRESTORE_DATABASE: database }),
  };
  if (!variables['GOOGLE_CLOUD_PROJECT'])
    throw new ArgumentError(
      'which project? Give --project ID (and sign in with `gcloud auth application-default login`), or --local for the stack that `npm start` runs',
    );
  return variables;
}

function fileVariables(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ArgumentError(
      `--env-file: ${error instanceof Error ? error.message : 'it cannot be read'}`,
    );
  }
}

const placeOf = (config: Config, { FIRESTORE_EMULATOR_HOST: emulator }: Environment) =>
  emulator
    ? `${config.GOOGLE_CLOUD_PROJECT} on the emulator ${emulator}`
    : config.GOOGLE_CLOUD_PROJECT;

/** Google's clients find emulators by the environment of the process alone. */
const EMULATORS = ['FIRESTORE_EMULATOR_HOST', 'PUBSUB_EMULATOR_HOST'] as const;

/** Opens databases to read from; `own` where neither project nor database is named. */
const sourceDatabases =
  (
    { GOOGLE_CLOUD_PROJECT, STORE_DEADLINE_MS }: Config,
    own: SourceDatabase,
    emulatorHost: string | undefined,
  ): Project['sourceDatabase'] =>
  ({ project, database }) => {
    if (project === undefined && database === undefined) return own;
    const place = {
      projectId: project ?? GOOGLE_CLOUD_PROJECT,
      databaseId: database ?? '(default)',
    };
    return {
      store: createFirestoreDocumentStore({ ...place, deadlineMs: STORE_DEADLINE_MS }),
      tree: createDocumentTree({ ...place, emulatorHost }),
    };
  };

/**
 * Opens the project that options and environment name; `setVariable` changes the environment of this process.
 * Throws ArgumentError, INVALID_CONFIGURATION.
 */
export async function openProject(
  options: ConnectionOptions,
  surroundings: {
    environment: Environment;
    setVariable: (name: string, value: string) => void;
    note: (text: string) => void;
    /** Rejects where nobody is signed in. */
    requireCredentials: () => Promise<void>;
  },
): Promise<Project> {
  const variables = variablesOf(options, surroundings.environment);
  for (const name of EMULATORS) {
    const host = variables[name];
    if (host) surroundings.setVariable(name, host);
  }
  // Where nobody has credentials, Google's clients would look for a metadata server, for seconds.
  if (variables['FIRESTORE_EMULATOR_HOST'])
    surroundings.setVariable('METADATA_SERVER_DETECTION', 'none');
  else await surroundings.requireCredentials();
  const isDemo = variables['GOOGLE_CLOUD_PROJECT']?.startsWith('demo-') === true;
  const hasKeys = isDemo || Boolean(variables['SNAPSHOT_KEYS']);
  const config = parseConfig({
    ...variables,
    ...(!hasKeys && { SNAPSHOT_KEYS: unknownKeys() }),
  });
  const chat = await createDependencies(config, { logger: loggerTo(surroundings.note) }).chat();
  const deadLetters = createDeadLetterBox(createDeadLetterClient(config.GOOGLE_CLOUD_PROJECT));
  const projectId = config.GOOGLE_CLOUD_PROJECT;
  const emulatorHost = variables['FIRESTORE_EMULATOR_HOST'];
  const tree = createDocumentTree({
    projectId,
    databaseId: config.FIRESTORE_DATABASE,
    emulatorHost,
  });
  return {
    chat,
    hasKeys,
    tree,
    sourceDatabase: sourceDatabases(config, { store: chat.store, tree }, emulatorHost),
    deadLetters,
    askContext: askChat(chat, options.local === true ? variables['RECAP_CHAT_URL'] : undefined),
    name: placeOf(config, variables),
    [Symbol.asyncDispose]: () => deadLetters.close(),
  };
}
