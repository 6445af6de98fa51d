import type { ArgsDef } from 'citty';
import { ArgumentError, recapCommand } from '#infra/command-line.ts';

/** A whole number on the command line. Throws ArgumentError. */
export function wholeNumber(
  text: string | undefined,
  input: { option: string; least: number; most: number },
): number {
  const value = text !== undefined && /^\d{1,15}$/u.test(text) ? Number(text) : NaN;
  if (value >= input.least && value <= input.most) return value;
  throw new ArgumentError(
    `${input.option} takes a whole number from ${input.least} to ${input.most}, not ${JSON.stringify(text)}`,
  );
}

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
    description: `the local stack that \`${recapCommand('dev')}\` runs`,
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
  envFile?: string | undefined;
}
