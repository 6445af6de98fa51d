/*
 * What no deployment sets: `parseConfig` puts these beside the variables of the environment, so that whoever works with
 * the configuration need not know which is which. Tests and the local stack give others as its second argument.
 */
export const serviceConstants = {
  /** Bytes of one text part. */
  MAX_PART_BYTES: 32 * 1024,
  /** Bytes of one message. */
  MAX_MESSAGE_BYTES: 256 * 1024,
  /** Bytes of a request body. */
  MAX_BODY_BYTES: 1024 * 1024,
  /** How long a client may take to send a body, ms. */
  BODY_TIMEOUT_MS: 60_000,
  /** How long an instance owns a running turn without a sign of life, ms. */
  TURN_LEASE_MS: 20_000,
  /** Longest answer, ms. */
  TURN_TIMEOUT_MS: 300_000,
  /** How long a turn stays paused until the app has answered its calls, ms; then they have expired. */
  TOOL_RESULT_TIMEOUT_MS: 900_000,
  /** Rounds of tool calls in one answer in the profile `coding`; TOOL_ROUNDS says it of the others. */
  CODING_TOOL_ROUNDS: 200,
  /**
   * How long an answer goes on after the reader of an AI SDK's or OpenAI's route has left, ms; unless they come back, it is
   * stopped then. A stop of these clients cannot be told from a reload.
   */
  DISCONNECT_GRACE_MS: 10_000,
  /** How long running answers may go on after SIGTERM, ms; Cloud Run ends a process 10 s after it. */
  DRAIN_MS: 8_000,
  /** Wait for the first event of the model, ms. */
  MODEL_FIRST_EVENT_TIMEOUT_MS: 120_000,
  /** Longest silence between two events of the model, ms. */
  MODEL_IDLE_TIMEOUT_MS: 60_000,
  /** How long a worker owns a compaction without renewing, ms. */
  COMPACTION_LEASE_MS: 60_000,
  /** Longest compaction, ms; below the function's timeout of 540 s. */
  COMPACTION_TIMEOUT_MS: 500_000,
  /** Deadline of one database call, ms. */
  STORE_DEADLINE_MS: 10_000,
  /** Deadline of one publish, ms. */
  PUBLISH_DEADLINE_MS: 5_000,
  /** Memory for finished turns of all conversations of an instance, bytes. */
  CACHE_BYTES: 32 * 1024 * 1024,
  /** Answers that one anonymous user may begin in a minute; 0 = no limit. */
  ANONYMOUS_REQUESTS_PER_MINUTE: 10,
  /**
   * Conversations, forks, devices and notes that one signed-in user may make in a day (UTC), beside what messages begin; a
   * fork counts once for every 100 turns. 0 = no limit.
   */
  USER_DAILY_CREATIONS: 1_000,
  /** The same of an anonymous user. */
  ANONYMOUS_DAILY_CREATIONS: 100,
  /** Uploads that one user may begin in a day (UTC); 0 = no limit. */
  USER_DAILY_UPLOADS: 50,
  /** Answers of one user on their way at once, and streams that one instance holds open for one user; 0 = no limit. */
  STREAMS_PER_USER: 3,
  /** Calls of one user that one instance works on at once, reads included; 0 = no limit. */
  USER_CALLS_AT_ONCE: 30,
  /**
   * Calls of one user that one instance takes in a minute, reads included; one that is refused as wrong (400) counts ten
   * times. 0 = no limit.
   */
  USER_CALLS_PER_MINUTE: 600,
  /** Key set that signs Firebase ID tokens. */
  ID_TOKEN_KEYS_URL:
    'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
  /** Key set that signs App Check tokens. */
  APP_CHECK_KEYS_URL: 'https://firebaseappcheck.googleapis.com/v1/jwks',
  /** Key set that signs Google OIDC tokens. */
  PUSH_TOKEN_KEYS_URL: 'https://www.googleapis.com/oauth2/v3/certs',
  /** Where accounts are looked up for CHECK_REVOKED. */
  IDENTITY_TOOLKIT_URL: 'https://identitytoolkit.googleapis.com',
  /** Where the bucket of uploads is served. */
  UPLOADS_URL: 'https://storage.googleapis.com',
  /** Where notifications are sent. */
  FCM_URL: 'https://fcm.googleapis.com',
};

export type ServiceConstants = Readonly<typeof serviceConstants>;
