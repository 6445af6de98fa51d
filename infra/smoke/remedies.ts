import { recapCommand } from '#infra/command-line.ts';
/** What came back in place of what was expected. */
interface BadAnswer {
  status: number;
  /** Of Recap's error body; absent where somebody else answered. */
  reason?: string | undefined;
}

const LOGS = 'The line of the request in the log of chat (Cloud Logging, its requestId) says more.';

const byReason: Readonly<Record<string, string>> = {
  ID_TOKEN_MISSING:
    'No token reached chat. A proxy before it may take the header Authorization off.',
  ID_TOKEN_INVALID:
    'The token is of another Firebase project than the deployment’s GOOGLE_CLOUD_PROJECT, or is no ID token. With --api-key take the key of that project.',
  ACCOUNT_LOOKUP_FAILED:
    'Chat cannot ask whether the sign-in was revoked: its account needs roles/firebaseauth.viewer, or set CHECK_REVOKED=off.',
  KEYS_UNAVAILABLE:
    'Chat cannot fetch Google’s keys for tokens: look at its way to the internet (vpc_egress).',
  APP_CHECK_MISSING:
    'The deployment asks for App Check. Give a token of a debug provider with --app-check, or set APP_CHECK=off for this check.',
  APP_CHECK_INVALID:
    'The App Check token is not of this project or app (APP_CHECK_PROJECT_NUMBER, APP_CHECK_APPS).',
  MODEL_REFUSED_REQUEST: `The model refused: a wrong or restricted key (GEMINI_API_KEY, secret recap-gemini-api-key), or an account that may not call models in VERTEX_PROJECT. The line turn_finished of this turn in the log of chat has the status of the model (detail).`,
  MODEL_UNKNOWN: 'There is no such model at VERTEX_LOCATION: set MODEL to one that there is.',
  MODEL_QUOTA:
    'The model is over its quota: try again in a minute. If it stays so, ask for a higher one for the project, take VERTEX_LOCATION=global or a lighter MODEL; with a key, a higher tier of the Gemini API.',
  MODEL_OVERLOADED:
    'The model does not answer now. Try again; if it stays so, look at VERTEX_LOCATION and GEMINI_BASE_URL.',
  MODEL_TIMEOUT:
    'The model took too long. Try again; if it stays so, look at VERTEX_LOCATION and at vpc_egress.',
  STORE_REFUSED:
    'Firestore refused: the account of chat needs roles/datastore.user on the database FIRESTORE_DATABASE, and the indexes of infra/firestore must be there (terraform apply makes them; building takes minutes).',
  STORE_UNAVAILABLE:
    'Firestore does not answer: is there a database FIRESTORE_DATABASE in this project, and are its indexes built?',
  STORED_BY_NEWER_VERSION:
    'A later release wrote to this database. Deploy that one again, or one after it (docs/operations.md, “Upgrade”).',
  EVENT_BUS_UNAVAILABLE: 'Pub/Sub took no event: chat needs roles/pubsub.publisher on its topics.',
  ANONYMOUS_LIMIT:
    'Anonymous users may do less than this check needs (ANONYMOUS_DAILY_MESSAGES, ANONYMOUS_DAILY_TOKENS): take --token of a signed-in user.',
  GLOBAL_BUDGET: 'The day’s budget of the deployment is spent (GLOBAL_DAILY_USD).',
  ROUTE_NOT_FOUND: `This chat does not know the address: it is an older version. \`${recapCommand('package')}\`, then \`terraform apply\`.`,
  INTERNAL: `A defect, or a database that refuses. ${LOGS}`,
};

/** What to do about an answer that was not the expected one. */
export function remedyFor({ status, reason }: BadAnswer): string {
  const known = reason === undefined ? undefined : byReason[reason];
  if (known !== undefined) return known;
  if (reason === undefined) {
    if (status === 403)
      return 'Google’s front end let nobody in: chat_is_public is false, an organisation forbids allUsers, or chat_ingress takes no requests from here.';
    if (status === 404)
      return 'Nobody serves this address: --url takes `terraform output -raw chat_url`, without a path, and this may be another service.';
    if (status === 401)
      return 'Somebody before chat asks for a token of its own (an API gateway, IAP).';
    if (status === 429)
      return 'Cloud Run had no instance for it: raise chat.max_instances or chat.concurrency.';
    if (status >= 500)
      return 'The instance did not start or a proxy gave up: look for `the environment is not usable` and for missing secrets in the log of chat.';
  }
  if (status === 401)
    return 'The token was not taken. Take a new one of the deployment’s Firebase project.';
  if (status === 429) return 'A limit was met: wait as long as Retry-After says.';
  return status >= 500 ? LOGS : `The deployment may be of another version than this check. ${LOGS}`;
}
