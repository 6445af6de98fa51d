import type { Repairs } from '../models/repairs.ts';
import type { GroundingReport, GroundingTool } from '#shared/models/grounding.ts';
import type { Content, Part } from '#shared/models/content.ts';
import type { Sampling, ToolChoice } from '#shared/models/answer-options.ts';

// ---------------------------------------------------------------- documents

/** A value that a document can hold. Arrays do not nest directly; `undefined` fields are left out. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Date
  | readonly Value[]
  | { readonly [field: string]: Value | undefined };

export type DocumentFields = { readonly [field: string]: Value | undefined };

export interface StoredDocument {
  /** Slash path from the root, e.g. `conversations/c1/turns/0000000001`. */
  path: string;
  fields: DocumentFields;
  /**
   * Equal exactly while the document is unchanged; an update that changes nothing keeps it. `compareUpdateTimes` orders
   * them as the commits were.
   */
  updateTime: string;
}

/** `exists`: any state of the document will do; `updateTime`: only the state that was read. */
export type Guard = { readonly updateTime: string } | { readonly exists: true };

export type Write =
  | { readonly op: 'create'; readonly path: string; readonly fields: DocumentFields }
  | {
      readonly op: 'update';
      readonly path: string;
      /** Keys may be dotted field paths (`compactionRequests.auto`). */
      readonly fields: DocumentFields;
      /** Dotted field paths to take away. */
      readonly remove?: readonly string[];
      readonly guard: Guard;
    }
  /**
   * Sets whole fields of a document, which it creates where there is none. It has no guard: it belongs into a batch whose
   * other writes have one.
   */
  | {
      readonly op: 'merge';
      readonly path: string;
      readonly fields: DocumentFields;
      readonly remove?: readonly string[];
    }
  | { readonly op: 'delete'; readonly path: string; readonly guard?: Guard };

export interface Query {
  /** Path of a collection (`conversations`, `conversations/c1/turns`). */
  collection: string;
  where?: readonly {
    field: string;
    op: '==' | '<' | '<=' | '>' | '>=';
    value: Value;
  }[];
  /** Ties are broken by document id in the same direction; without it the order is by document id. */
  orderBy?: { field: string; direction: 'asc' | 'desc' };
  /** At most this many documents. */
  limit: number;
  /** Continues after this document of an earlier page: its value of the `orderBy` field and its path. */
  startAfter?: { value?: Value; path: string };
}

/**
 * The database, as Firestore gives it: reads by id, and atomic commits in which every write carries
 * its own guard. There are no read-write transactions (docs/decisions/storage/0002).
 * Throws GuardLostError, InvalidWriteError, StoreUnavailableError.
 */
export interface DocumentStore {
  /** The documents in the order of `paths`; `undefined` where there is none. One round trip. */
  get(paths: readonly string[]): Promise<(StoredDocument | undefined)[]>;
  /**
   * Applies all writes or none; a document may stand in a commit once. At most 500 writes and 3.5 MiB.
   * Returns the update time of each write's document (deletes: '').
   */
  commit(writes: readonly Write[]): Promise<string[]>;
  query(query: Query): Promise<StoredDocument[]>;
  /** Sum of a field over the documents of a collection; what is no number adds nothing. Billed as one read for each 1,000. */
  sum(collection: string, field: string): Promise<number>;
  /**
   * Follows a collection, or those of its documents whose field is at least `since`: first the documents that are there
   * (perhaps none), then those that are created or changed, in the order of the commits; ends when `signal` fires. A
   * document may come twice, deletions are not told. Throws StoreUnavailableError.
   */
  watch(
    collection: string,
    signal: AbortSignal,
    since?: { field: string; value: Date },
  ): AsyncIterable<StoredDocument[]>;
  /**
   * Deletes every document below a document, at any depth, and not itself; resolves to how many there
   * were. Not atomic: it may stop half way (`signal`, a crash) and be repeated. Throws
   * StoreUnavailableError, and the signal's reason.
   */
  deleteBelow(path: string, signal?: AbortSignal): Promise<number>;
}

// ---------------------------------------------------------------- events

export type Topic = 'compaction' | 'events';

export interface EventPublisher {
  /** Resolves when the bus has the event. `data` is sent as JSON. Throws AppError (retryable). */
  publish(event: {
    topic: Topic;
    data: object;
    attributes?: Readonly<Record<string, string>>;
  }): Promise<void>;
}

/** What a device shows, and what its app gets with it. */
export interface PushNotification {
  title: string;
  body: string;
  data: Readonly<Record<string, string>>;
  /** A later notification with the same key takes the place of this one; at most 32 letters and digits. */
  collapseKey: string;
  /** How long it is worth being delivered. */
  ttlSeconds: number;
}

export interface Notifier {
  /**
   * Sends to one device; `gone`: its token is not valid any more. Throws AppError NOTIFIER_UNAVAILABLE
   * (retryable, perhaps with retryAfterMs), NOTIFICATION_REFUSED, and the abortion of `signal`.
   */
  send(
    to: { token: string; notification: PushNotification },
    signal: AbortSignal,
  ): Promise<'sent' | 'gone'>;
}

export interface EventWebhook {
  /** Posts an event, signed. Throws AppError WEBHOOK_FAILED (retryable), and the abortion of `signal`. */
  tell(event: object, signal: AbortSignal): Promise<void>;
}

// ---------------------------------------------------------------- model

export interface ToolDeclaration {
  name: string;
  description?: string;
  /** JSON Schema of the arguments. */
  parametersJsonSchema?: unknown;
}

/** Everything that the model sees: what the token counter counts and what `/context` shows. */
export interface Prompt {
  model: string;
  systemInstruction?: string;
  tools?: readonly ToolDeclaration[];
  contents: readonly Content[];
  /** What was mended of it, where a model would have refused it; for logs and records. */
  repairs?: Repairs;
}

export interface ModelRequest extends Prompt {
  /** Google's tools that the model may use by itself; their results come with the answer. Absent: none. */
  grounding?: readonly GroundingTool[] | undefined;
  /**
   * `none`: the model sees its tools and calls none. Leaving them out would say the same, but the prompt would begin
   * otherwise than those before it, and nothing of it come from the cache.
   */
  toolChoice?: ToolChoice | undefined;
  sampling?: Sampling | undefined;
  maxOutputTokens?: number | undefined;
  responseJsonSchema?: unknown;
  /** Who asks, for the bill and the logs. */
  role: 'chat' | 'utility_compressor' | 'utility_title' | 'utility_router' | 'utility_filter';
  /** Names this call in logs, e.g. `t_17`, `{requestId}`, `{requestId}-verify`. */
  promptId: string;
}

export interface ModelUsage {
  promptTokens: number;
  /** Part of promptTokens that was served from the implicit cache. */
  cachedTokens: number;
  /** Answer tokens, thoughts not included. */
  outputTokens: number;
  thoughtsTokens: number;
  /** What Google's tools gave the model to read beside the prompt; billed as input. Absent: nothing. */
  toolTokens?: number | undefined;
  /** Searches that Google's tool made; billed by themselves. Absent: none. */
  searches?: number | undefined;
}

export interface ModelChunk {
  /** Raw parts as received, thoughts and signatures included; may be empty. */
  parts: Part[];
  /**
   * `STOP`, `MAX_TOKENS`, `SAFETY`, `RECITATION`, `MALFORMED_FUNCTION_CALL`, … Stands on the last chunk; some servers send
   * it with earlier ones as well.
   */
  finishReason?: string;
  /** The prompt itself was refused; no answer will come. */
  blockReason?: string;
  /** The newest figures; later chunks replace earlier ones. */
  usage?: ModelUsage;
  /** What Google's tools have found for the answer; chunks add to one another. */
  grounding?: GroundingReport;
}

/** A whole answer: all chunks together. */
export type ModelResponse = ModelChunk;

/**
 * A Gemini model. Every failure is an AppError: MODEL_QUOTA (429), MODEL_OVERLOADED (5xx, cut or silent
 * stream, network), MODEL_TIMEOUT, MODEL_CONTEXT_OVERFLOW (prompt over the window), MODEL_UNKNOWN (404), MODEL_REFUSED_REQUEST
 * (any other 4xx), ABORTED (the signal fired). A stream that ends without a finishReason throws.
 */
export interface ModelStreamer {
  /** A call comes soon: what takes time before the first one may be done meanwhile. Never throws. */
  prepare?(): void;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
}
export interface ModelGenerator {
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>;
}
export interface TokenCounter {
  /** Tokens of the whole prompt, system instruction and tools included. */
  countTokens(prompt: Prompt, signal: AbortSignal): Promise<number>;
}

// ---------------------------------------------------------------- caller

/** How a person is known: an anonymous account costs nothing to make, so quotas give it less. */
export type CallerTier = 'anonymous' | 'signedIn';

export interface Caller {
  uid: string;
  tier: CallerTier;
  /** What the ID token says, as it came; absent for a command of the operator. */
  claims?: Readonly<Record<string, unknown>>;
  /** E-mail of the service account that acts for them; absent: they ask themselves. */
  actor?: string;
}

// ---------------------------------------------------------------- surroundings

export interface Clock {
  now(): Date;
  /** Resolves after `ms`, or at once when the signal fires. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Randomness {
  /** A fresh UUID v4. */
  uuid(): string;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  /** One JSON line. Never message text, tokens or keys; never throws. */
  log(severity: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR', event: string, fields: LogFields): void;
}

/** Tells what the server made itself from what somebody else made up. */
export interface Signer {
  /** A signature in base64. */
  sign(payload: string): string;
  /** Whether this is the signature of this payload. Takes the same time for any answer. */
  isValid(payload: string, signature: string): boolean;
}

/** SHA-256 as lower-case hex. */
export type Sha256 = (text: string) => string;

/** A named place between two effects. Does nothing in production; tests hold or kill a process there. */
export type AtCrashPoint = (point: string) => Promise<void>;

/** A caller as the ID token tells of them. */
export interface SignedInCaller extends Caller {
  /** When they last proved who they are; a token that is renewed keeps it. */
  signedInAt: Date;
  /** The tenant of Identity Platform that the account belongs to, where the project has tenants. */
  tenant?: string;
}

export interface ServiceTokenVerifier {
  /**
   * E-mail of the service account whose Google ID token this is, if it may act for users; undefined for a token of
   * another issuer. Throws AppError ID_TOKEN_EXPIRED | ID_TOKEN_INVALID (UNAUTHENTICATED), ON_BEHALF_OF_DENIED
   * (PERMISSION_DENIED), KEYS_UNAVAILABLE.
   */
  verify(token: string): Promise<string | undefined>;
}

export interface IdTokenVerifier {
  /** The caller of a Firebase ID token. Throws AppError ID_TOKEN_EXPIRED | ID_TOKEN_INVALID (UNAUTHENTICATED). */
  verify(token: string): Promise<SignedInCaller>;
}

export interface RevocationCheck {
  /**
   * Resolves when the account is there, is not disabled, and its sign-ins have not been revoked since
   * `signedInAt`. Throws AppError ID_TOKEN_REVOKED | USER_DISABLED (UNAUTHENTICATED), ACCOUNT_LOOKUP_FAILED
   * (UNAVAILABLE) when that cannot be told.
   */
  check(caller: SignedInCaller): Promise<void>;
}

/** What Firebase App Check says of the app that sends a request. */
export interface AppCheckToken {
  appId: string;
  /** The same text for the same token only. */
  tokenId: string;
  expireTime: Date;
}

export interface AppCheckVerifier {
  /** Reads an App Check token. Throws AppError APP_CHECK_INVALID (UNAUTHENTICATED), KEYS_UNAVAILABLE. */
  verify(token: string): Promise<AppCheckToken>;
}

/** Access tokens of the service account that the process runs as. */
export interface AccessTokens {
  /** Throws whatever the platform throws when there is none to be had. */
  get(): Promise<string>;
  /** Another one than `refused`, which a service did not take. Throws like `get`. */
  renew(refused: string): Promise<string>;
}

export interface PushTokenVerifier {
  /** Resolves when the Authorization header proves the Pub/Sub service account. Throws UNAUTHENTICATED. */
  verify(authorizationHeader: string | undefined): Promise<void>;
}

/** What the first call of a turn is about to take of its user's quota. */
export interface QuotaRequest {
  caller: Caller;
  /** With the message id and the attempt it names what is reserved: asked again, it is reserved once. */
  conversationId: string;
  messageId: string;
  /** Counts from 1. */
  attempt: number;
  model: string;
  /** Tokens of the prompt. */
  estimatedTokens: number;
  /** A call that chooses the model may be made before; it is paid for out of what is reserved. */
  isRouted?: boolean;
  /** The message was counted when its turn began to wait for the app. */
  isCounted?: boolean;
  /** Messages of the conversation whose turns nobody answers any more: what they hold is given back. */
  abandoned?: readonly string[];
}

/** What calls of the model took. */
export interface QuotaSpending {
  /** What the model reported; absent: nothing. */
  usage?: ModelUsage | undefined;
  /** Millionths of a US dollar; absent where no model reported what it took. */
  costMicros?: number | undefined;
  /** Whether the user got an answer for it, or a part of one that waits for the app: once a message. */
  isMessage: boolean;
  /** A call may be billed and reported nothing: what the newest one was estimated at is spent, too. */
  isUnreported?: boolean;
  /** What the choice of the model took. */
  routing?: { tokens: number; costMicros: number } | undefined;
  /** The turn is not there any more: perhaps its user was erased, of whom nothing is made anew. */
  isGone?: boolean;
}

/** What one answer holds of its user's quota, in a document of its own: it stands from the moment it is given out. */
export interface Reservation {
  /**
   * Holds what the next call of the turn may take, beside what the turn has taken before it. Throws
   * USER_DAILY_TOKENS, USER_DAILY_USD, ANONYMOUS_LIMIT, GLOBAL_BUDGET, StoreUnavailableError.
   */
  renew(call: {
    model: string;
    estimatedTokens: number;
    taken: ModelUsage | undefined;
  }): Promise<void>;
  /**
   * Puts what was taken in the place of the reservation; to be called once, whatever became of the turn.
   * Never throws: what could not be settled expires.
   */
  settle(spending: QuotaSpending): Promise<void>;
  /** The turn did not begin: nothing was reserved. In the place of `settle`; never throws. */
  release(): Promise<void>;
}

export interface Quota {
  /**
   * Reserves what an answer may take, before its turn starts. Who dies with it leaves it until the turn could have
   * ended. Throws AppError RESOURCE_EXHAUSTED (USER_STREAMS, USER_RPM, USER_DAILY_MESSAGES, USER_DAILY_TOKENS,
   * USER_DAILY_USD, ANONYMOUS_LIMIT, GLOBAL_BUDGET) with retryAfterMs, GuardLostError, StoreUnavailableError.
   */
  reserve(request: QuotaRequest): Promise<Reservation>;
  /** Throws what `reserve` would throw now, and reserves nothing. */
  refuse(request: QuotaRequest): Promise<void>;
  /**
   * For work that is no message (a compaction that somebody asks for). Throws USER_DAILY_USD or GLOBAL_BUDGET
   * where nothing is left of either, StoreUnavailableError.
   */
  refuseSpent(caller: Caller): Promise<void>;
  /**
   * Counts things that a caller makes beside messages. Returns what goes into the batch that makes them, guarded by
   * what was read: who loses asks anew. Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT, StoreUnavailableError.
   */
  create(caller: Caller, count: number): Promise<readonly Write[]>;
  /**
   * Takes a place for a stream of this instance until the returned function is called. Throws USER_STREAMS
   * where the caller has as many open as is allowed.
   */
  openStream(caller: Caller): () => void;
}

/** A request that somebody without credentials may send once, until it expires. */
export interface SignedRequest {
  url: string;
  method: 'PUT' | 'GET';
  /** To be sent exactly so: the signature holds them. */
  headers: Readonly<Record<string, string>>;
  expireTime: Date;
}

/**
 * The bucket of users' files. A file is written once and never changed. Paths are slash paths, as those of
 * documents. Every failure is an AppError FILES_UNAVAILABLE, retryable where waiting can help; `signal`: its
 * abortion.
 */
export interface FileBucket {
  /** A PUT of exactly this size and type, to a path that has no file yet. Unless kept, the file expires in days. */
  signUpload(file: { path: string; mimeType: string; sizeBytes: number }): Promise<SignedRequest>;
  /** A GET that saves the file under its name. */
  signDownload(file: { path: string; name?: string | undefined }): Promise<SignedRequest>;
  /** What the file is; undefined where there is none. */
  stat(
    path: string,
    signal?: AbortSignal,
  ): Promise<{ mimeType: string; sizeBytes: number } | undefined>;
  /** Its bytes, the first `maxBytes` at most; undefined where there is none. */
  read(
    path: string,
    options: { maxBytes: number; signal?: AbortSignal | undefined },
  ): Promise<Uint8Array | undefined>;
  /** The file does not expire any more; one that is not there stays so. */
  keep(path: string): Promise<void>;
  /** One that is not there is gone already. */
  delete(path: string): Promise<void>;
  /** How Google's own services name the file: `gs://…`. */
  uri(path: string): string;
}
