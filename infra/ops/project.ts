import { parseEnv } from 'node:util';
import { readFileSync } from 'node:fs';
import { GoogleAuth } from 'google-auth-library';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { parseConfig, type Config } from '#functions/config.ts';
import { localConfig } from '../local/local-config.ts';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import { createDependencies } from '#functions/dependencies.ts';
import type { Logger } from '#shared/ports/ports.ts';
import { ArgumentError, recapCommand } from '#infra/command-line.ts';
import type { ConnectionOptions } from './arguments.ts';
import { createDeadLetters, type DeadLetters, createDeadLetterClient } from './dead-letters.ts';
import { createDocumentTree, type DocumentTree } from './document-tree.ts';
import type { SourceDatabase } from './import/source.ts';
import { localVariables } from './local-variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A deployment, or a stack on this machine, as commands work on it. */
export interface Project extends AsyncDisposable {
  /** What the chat function works with: commands go through its use cases. */
  chat: ChatDependencies;
  tree: DocumentTree;
  /** A database of the same project to read from; undefined: that of Recap. */
  sourceDatabase: (databaseId: string | undefined) => SourceDatabase;
  deadLetters: DeadLetters;
  /** For people: which project it is. */
  name: string;
}

/** Logs of use cases go beside the result, and only what somebody must act on. */
const loggerTo = (note: (text: string) => void): Logger => ({
  log: (severity, event, fields) => {
    if (severity === 'WARNING' || severity === 'ERROR')
      note(`${severity} ${event} ${JSON.stringify(fields)}`);
  },
});

function variablesOf(options: ConnectionOptions, environment: Environment): Environment {
  const { envFile, project, database } = options;
  const variables = {
    ...environment,
    ...(envFile !== undefined && fileVariables(envFile)),
    ...(options.local === true && localVariables()),
    ...(project && { GOOGLE_CLOUD_PROJECT: project }),
    ...(database && { FIRESTORE_DATABASE: database }),
  };
  if (!variables['GOOGLE_CLOUD_PROJECT'])
    throw new ArgumentError(
      `which project? Give --project ID (and sign in with \`gcloud auth application-default login\`), or --local for the stack that \`${recapCommand('dev')}\` runs`,
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

/** Google's clients end the process where there are none, in the middle of a command. Throws ArgumentError. */
export async function requireCredentials(): Promise<void> {
  try {
    await new GoogleAuth().getApplicationDefault();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ArgumentError(
      `there are no credentials for Google Cloud (${why}). Sign in: gcloud auth application-default login`,
    );
  }
}

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
  const config = options.local === true ? localConfig(variables) : parseConfig(variables);
  const chat = await createDependencies(config, { logger: loggerTo(surroundings.note) }).chat();
  const { GOOGLE_CLOUD_PROJECT: projectId, FIRESTORE_DATABASE, STORE_DEADLINE_MS } = config;
  const emulatorHost = variables['FIRESTORE_EMULATOR_HOST'];
  const treeOf = (databaseId: string | undefined) =>
    createDocumentTree({ projectId, databaseId, emulatorHost });
  const tree = treeOf(FIRESTORE_DATABASE);
  const deadLetters = createDeadLetters(createDeadLetterClient(projectId));
  return {
    chat,
    tree,
    sourceDatabase: (databaseId) => {
      if (databaseId === undefined) return { store: chat.store, tree };
      const place = { projectId, databaseId, deadlineMs: STORE_DEADLINE_MS };
      return { store: createFirestoreDocumentStore(place), tree: treeOf(databaseId) };
    },
    deadLetters,
    name: placeOf(config, variables),
    [Symbol.asyncDispose]: () => deadLetters.close(),
  };
}
