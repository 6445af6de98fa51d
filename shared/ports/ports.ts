import type { GroundingReport, GroundingTool } from '#shared/grounding/grounding.ts';
import type { Content, Part } from '../conversation/documents/content.ts';
import type { Repairs } from '../conversation/repair/repairs.ts';
import type { Sampling, ToolChoice } from '../models/answer-options.ts';

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
  /** Opaque; equal exactly while the document is unchanged. An update that changes nothing keeps it. */
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
   * Follows a collection: first the documents that are there, ordered by id (perhaps none), then those
   * that are created or changed, as it happens; ends when `signal` fires. A document may come twice,
   * deletions are not told. Throws StoreUnavailableError.
   */
  watch(collection: string, signal: AbortSignal): AsyncIterable<StoredDocument[]>;
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

export interface ModelResponse {
  parts: Part[];
  finishReason?: string;
  blockReason?: string;
  usage?: ModelUsage;
  grounding?: GroundingReport;
}

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
