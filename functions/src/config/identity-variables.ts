import { z } from 'zod';
import { list } from './config-values.ts';

/** The variables that say who may call: users, their apps, and Pub/Sub. Part of the environment's schema. */
export const identityVariables = {
  PUSH_AUDIENCE: z.string().optional().describe('Audience of the push subscription’s OIDC token.'),
  PUSH_SERVICE_ACCOUNT: z.string().optional().describe('E-mail of the account that pushes.'),
  FIREBASE_AUTH_EMULATOR_HOST: z
    .string()
    .optional()
    .describe('Set with a demo- project: unsigned ID tokens are accepted.'),
  PUBSUB_EMULATOR_HOST: z
    .string()
    .optional()
    .describe('Set with a demo- project: pushes without token are accepted.'),
  APP_CHECK: z
    .enum(['off', 'enforced', 'once'])
    .default('off')
    .describe(
      'enforced: every request of a user needs a Firebase App Check token in X-Firebase-AppCheck. once: besides, to delete or export a conversation, and to erase or export a user, a token serves once; apps send limited-use tokens there.',
    ),
  APP_CHECK_PROJECT_NUMBER: z
    .string()
    .regex(/^\d{1,20}$/, 'must be the number of the project, digits only')
    .optional()
    .describe('Number of the Firebase project that App Check tokens are made out to.'),
  APP_CHECK_APPS: list.describe(
    'Comma-separated Firebase app ids (1:…:ios:…) whose App Check tokens are taken; empty = every app of the project.',
  ),
  CHECK_REVOKED: z
    .enum(['off', 'erasures', 'always'])
    .default('erasures')
    .describe(
      'Which requests ask Firebase Auth whether the sign-in was revoked or the account disabled: erasures = to delete or export a conversation, and to erase or export a user; always = every one. Needs the permission firebaseauth.users.get. off in a demo- project where it is not set.',
    ),
};
