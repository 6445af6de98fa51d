import { environmentSchema } from '#functions/config/environment.ts';

/** What terraform/*.tf sets itself: names of resources, and what needs rights besides. */
const setByTerraform = [
  'GOOGLE_CLOUD_PROJECT',
  'FIRESTORE_DATABASE',
  'COMPACTION_TOPIC',
  'EVENTS_TOPIC',
  'VERTEX_PROJECT',
  'VERTEX_LOCATION',
  'HOOK_HOSTS',
  'EVENT_WEBHOOK_URL',
  'FCM_PROJECT',
  'CORS_ORIGINS',
  'ADMIN_SERVICE_ACCOUNTS',
  'ADMIN_AUDIENCE',
  'PUSH_AUDIENCE',
  'PUSH_SERVICE_ACCOUNT',
  'UPLOADS_BUCKET',
  'UPLOADS_SIGNER',
];

/** What terraform/*.tf hands over through Secret Manager. */
export const secretVariables = ['GEMINI_API_KEY', 'HOOK_SIGNING_KEY'];

/** What is of use beside an emulator or a fake Gemini alone. */
const localVariables = ['FIREBASE_AUTH_EMULATOR_HOST', 'PUBSUB_EMULATOR_HOST'];

/** The text of `terraform/settings.json`: the environment variables that an operator may set as `settings`. */
export function deploymentSettings(): string {
  const others = new Set([...setByTerraform, ...secretVariables, ...localVariables]);
  const names = Object.keys(environmentSchema.shape).filter((name) => !others.has(name));
  return `${JSON.stringify(names, undefined, 2)}\n`;
}
