import type { ArgsDef } from 'citty';

/** Options that every command has: which project, and how it is told. */
export const connectionArgs = {
  project: {
    type: 'string',
    valueHint: 'ID',
    description: 'Google Cloud project (default: GOOGLE_CLOUD_PROJECT)',
  },
  database: {
    type: 'string',
    valueHint: 'ID',
    description: 'Firestore database (default: FIRESTORE_DATABASE, or the default one)',
  },
  local: {
    type: 'boolean',
    default: false,
    description: 'the local stack that `npm start` runs',
  },
  port: {
    type: 'string',
    valueHint: 'N',
    description: 'with --local: port of its chat function, where several stacks run',
  },
  'env-file': {
    type: 'string',
    valueHint: 'FILE',
    description: 'variables of the deployed functions, NAME=value in each line',
  },
  json: { type: 'boolean', default: false, description: 'JSON for programs' },
} as const satisfies ArgsDef;

export interface ConnectionOptions {
  project?: string | undefined;
  database?: string | undefined;
  local?: boolean | undefined;
  port?: string | undefined;
  envFile?: string | undefined;
}
