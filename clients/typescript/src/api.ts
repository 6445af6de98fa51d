import type { RecapError } from './http/error.ts';
import type {
  ContextObject,
  ConversationRow,
  SearchAllResult,
  StoredMessage,
} from './wire/wire.ts';

/** Texts under keys, of one user. What a write has resolved is there after the app was killed. */
export interface RecapStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /** Those that begin with `prefix`, in their order. */
  keys(prefix: string): Promise<string[]>;
}

/** What a tool of the app is told beside its input. */
export interface ToolCallInfo {
  conversationId: string;
  callId: string;
}

/** Runs in the app; what it throws is told to the model. */
export type Tool = (input: unknown, call: ToolCallInfo) => unknown;

/** What the app tells the model of the moment: docs/guides/client-context.md. */
export type ClientContext = Readonly<Record<string, unknown>>;

export interface RecapOptions {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token; a new one if `force`: `(force) => auth.currentUser.getIdToken(force)`. */
  getIdToken: (force: boolean) => Promise<string>;
  /** Where the service demands App Check: `async () => (await getToken(appCheck)).token`. */
  getAppCheckToken?: () => Promise<string>;
  /** Of this user alone; by itself nothing outlives the page. */
  storage?: RecapStore;
  /** By name, as the conversation declares them. */
  tools?: Readonly<Record<string, Tool>>;
  /** Asked for with every message; what `send` is given goes before. */
  clientContext?: () => ClientContext;
  /** Draws the ids; `randomUUID` of expo-crypto in React Native. */
  randomUUID?: () => string;
  fetch?: typeof fetch;
  /** What goes over the wire, for who watches it. */
  onWire?: (event: WireEvent) => void;
  timings?: Partial<Timings>;
}

/** Milliseconds. */
export interface Timings {
  /** A connection without a byte for so long is lost. */
  silenceMs: number;
  /** A call without an answer for so long is lost. */
  callMs: number;
  /** Pauses between tries; the last one is that of all further ones. */
  backOffMs: readonly number[];
  /** Between looks at a compaction that is on its way. */
  watchMs: number;
}

/** One step of a request; `exchange` tells requests apart. */
export type WireEvent = { exchange: number; at: number } & (
  | { kind: 'request'; method: string; url: string; body: string | undefined }
  | { kind: 'response'; code: number }
  | { kind: 'event'; id: string | undefined; data: string }
  | { kind: 'end'; problem?: string }
);

/** A file of a message: a Blob, or in React Native what a picker gives. */
export type FileInput = Blob | { uri: string; type: string; name?: string };

export interface SendOptions {
  files?: readonly FileInput[];
  /** While another message is answered: wait (as it is by itself), take its place, or be refused. */
  onBusy?: 'queue' | 'interrupt' | 'reject';
  context?: ClientContext;
  /** `keep`: stays word for word; `drop`: is folded first. */
  retention?: 'keep' | 'normal' | 'drop';
  /** JSON Schema that the answer has to fit. */
  responseSchema?: object;
}

/** A part of a message as the API takes it. */
export type InputPart =
  | { type: 'text'; text: string }
  | { type: 'file'; uploadId: string }
  | { type: 'file'; mediaType: string; data: string }
  | { type: 'file'; mediaType: string; url: string };

/** A piece of a message, as it is shown. */
export type MessagePart =
  | { type: 'text'; text: string }
  | {
      type: 'file';
      mediaType?: string;
      name?: string;
      /** `recap.fileUrl(uploadId)` has its address. */
      uploadId?: string;
      url?: string;
      data?: string;
      /** In React Native: the file on this device. */
      uri?: string;
      /** 0 to 1 while it is uploaded. */
      progress?: number;
    }
  | {
      type: 'tool';
      callId: string;
      name: string;
      input: unknown;
      /** `approval`: waits for `chat.approve`. */
      state: 'running' | 'approval' | 'done' | 'failed';
      /** Whether the service runs it. */
      byService: boolean;
      output?: unknown;
      error?: string;
    }
  | { type: 'source'; url: string; title?: string }
  | { type: 'notice'; kind: string; details: Readonly<Record<string, unknown>> };

export interface MessageError {
  /** UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection. */
  reason: string;
  /** To be shown. */
  message: string;
  /** Whether the same message may be tried again. */
  isRetryable: boolean;
  /** Of a limit of the day: when it is over. */
  resetTime?: string;
}

export type MessageState =
  | 'pending'
  | 'sent'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'done'
  | 'stopped'
  | 'failed';

/** One message of the user or of the model; clients/README.md has its states. */
export interface Message {
  /** Of a user's message the id that this device gave it, `m_17` of an answer. */
  readonly id: string;
  readonly role: 'user' | 'model';
  readonly state: MessageState;
  readonly parts: readonly MessagePart[];
  /** Its text parts as one. */
  readonly text: string;
  /** ISO 8601. */
  readonly time: string;
  /** Its turn; absent until the service has told it. */
  readonly seq?: number;
  /** Of a `pending` message: why the last try did not get through. */
  readonly error?: MessageError;
  readonly finishReason?: string;
  /** Why the model does not know of it. */
  readonly outOfContext?: StoredMessage['outOfContext'];
  readonly isDeleted?: true;
  readonly rating?: 'up' | 'down';
  /** As the service has it, with all that it tells; absent while it is streamed. */
  readonly stored?: StoredMessage;
}

/** A conversation as it is shown: never changed, but followed by a new one. */
export interface ChatState {
  /** Of the current branch, the oldest first. */
  readonly messages: readonly Message[];
  /** All, those too that were replaced. */
  readonly transcript: readonly Message[];
  readonly title?: string;
  readonly context?: ContextObject;
  /** Before the first message, and behind the last one (after `loadAround`). */
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
  /** Whether it was read since it is shown. */
  readonly isLoaded: boolean;
  /** Whether an answer is on its way. */
  readonly isAnswering: boolean;
  /** Why it cannot be read. */
  readonly problem?: RecapError;
}

/** One conversation. What is told to reject, rejects with a RecapError. */
export interface Chat {
  readonly id: string;
  readonly state: ChatState;
  readonly messages: readonly Message[];
  /** Opens it, until all who subscribe have left. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Resolves to the message's id as soon as it is kept. Never rejects: what comes of it is in its state. */
  readonly send: (parts: string | readonly InputPart[], options?: SendOptions) => Promise<string>;
  /** Says something else in place of a message of the user; all after it leaves the branch. */
  readonly edit: (
    messageId: string,
    parts: string | readonly InputPart[],
    options?: SendOptions,
  ) => Promise<string>;
  /** Answers the last message anew. Rejects where there is none. */
  readonly regenerate: (options?: Pick<SendOptions, 'context'>) => Promise<string>;
  /** Sends a message again that failed, or whose answer did. Rejects where it is not shown. */
  readonly retry: (messageId: string) => Promise<void>;
  /** Forgets a message that is not sent. */
  readonly discard: (messageId: string) => Promise<void>;
  /** Ends the answer that is being written; its text stays. */
  readonly stop: () => Promise<void>;
  /** Reads older ones; resolves to whether there are more. Rejects. */
  readonly loadOlder: (count?: number) => Promise<boolean>;
  /** The same, behind the last one after `loadAround`. */
  readonly loadNewer: (count?: number) => Promise<boolean>;
  /** Shows the messages around a turn. Rejects. */
  readonly loadAround: (seq: number) => Promise<void>;
  /** Shows the newest ones again. Rejects. */
  readonly loadNewest: () => Promise<void>;
  /** The answers up to the last message shown, or `seq`, were seen. Never rejects. */
  readonly markRead: (seq?: number) => Promise<void>;
  /** Allows a call of the service's tool, or does not. Rejects. */
  readonly approve: (callId: string, isAllowed: boolean) => Promise<void>;
  /** Reads again what may have changed. Rejects. */
  readonly refresh: () => Promise<void>;
  /** These change it in the list, too. Reject. */
  readonly rename: (title: string) => Promise<void>;
  readonly archive: (isArchived?: boolean) => Promise<void>;
  readonly pin: (isPinned?: boolean) => Promise<void>;
  /** Into the bin for 30 days, and back. */
  readonly remove: () => Promise<void>;
  readonly undelete: () => Promise<void>;
  readonly deleteMessage: (messageId: string) => Promise<void>;
  readonly rate: (messageId: string, rating: 'up' | 'down', comment?: string) => Promise<void>;
  readonly compact: () => Promise<void>;
  /** Any other call of it, such as `('GET', '/context')`. Rejects. */
  readonly call: <Reply>(method: Method, path: string, given?: CallInput) => Promise<Reply>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface CallInput {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  signal?: AbortSignal;
}

/** A row of the list. */
export type Row = Omit<ConversationRow, 'lastSeq' | 'readSeq' | 'createTime'> &
  Partial<Pick<ConversationRow, 'lastSeq' | 'readSeq' | 'createTime'>> & {
    /** Messages that are not sent yet. */
    pendingCount: number;
  };

export type ListName = 'active' | 'archived' | 'deleted';

/** Rows of one list: the pinned ones, then the newest. */
export interface ConversationList {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
  readonly problem?: RecapError;
  readonly subscribe: (listener: (rows: readonly Row[]) => void) => () => void;
  /** Rejects. */
  readonly loadMore: () => Promise<void>;
}

export interface Recap {
  /** Those that are neither archived nor in the bin. */
  readonly conversations: ConversationList;
  list(name: ListName): ConversationList;
  /** Without an id: a new one, which begins with its first message. */
  chat(id?: string): Chat;
  search(query: string, pageToken?: string): Promise<SearchAllResult>;
  /** Moves all of a guest to this user, with what `guestStore` has not sent yet. Rejects. */
  claim(guestToken: string, guestStore?: RecapStore): Promise<{ conversations: number }>;
  readonly push: {
    register(token: string, platform: 'ios' | 'android' | 'web', locale?: string): Promise<void>;
    unregister(): Promise<void>;
  };
  /** Where a file can be read, for some minutes. Rejects. */
  fileUrl(uploadId: string): Promise<string>;
  /** Whether the app is in front. */
  setActive(isActive: boolean): void;
  /** The clock of the service. */
  now(): Date;
  /** Any other call, such as `('GET', '/v1/users/me/usage')`. Rejects. */
  call<Reply>(method: Method, path: string, given?: CallInput): Promise<Reply>;
  close(): void;
}
