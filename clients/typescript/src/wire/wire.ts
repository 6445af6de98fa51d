/** Of the API, made by `npm run generate`; docs/reference/api.md says what each field means. */

export interface Wire {
  ContextObject: ContextObject;
  ConversationRow: ReadConversationResponse;
  SearchAllResult: SearchAllConversationsResponse;
  StoredMessage: Message;
  StreamChunk:
    | StreamChunkStart
    | StreamChunkTextStart
    | StreamChunkTextDelta
    | StreamChunkTextEnd
    | StreamChunkStartStep
    | StreamChunkToolInputAvailable
    | StreamChunkToolOutputAvailable
    | StreamChunkToolOutputError
    | StreamChunkSourceUrl
    | StreamChunkDataSearched
    | StreamChunkDataContext
    | StreamChunkDataTitle
    | StreamChunkDataNotice
    | StreamChunkError
    | StreamChunkAbort
    | StreamChunkFinish;
  UserEvent:
    | ListUserEventsResponseConversation
    | ListUserEventsResponseGone
    | ListUserEventsResponseReady
    | ListUserEventsResponseReset
    | ListUserEventsResponseReconnect;
}
export interface ContextObject {
  tokens: number;
  thresholdTokens: number | null;
  windowTokens: number;
  percent: number;
  source: 'reported' | 'counted' | 'estimated';
  generation: number;
  compaction: {
    state: string;
    jobId?: string;
    trigger?: string;
    beforeTokens?: number;
    afterTokens?: number;
    coveredThrough?: number;
    at?: string;
    reason?: string;
    message?: string;
  } | null;
  leftOut?: {
    turns: number;
    from: number;
    upTo: number;
    remedy: 'wait' | 'compact';
    message: string;
  };
  recalled?: {
    count: number;
    tokens: number;
    turns: string[];
  };
}
export interface ReadConversationResponse {
  id: string;
  title?: string;
  metadata: {
    [k: string]: string;
  };
  archived: boolean;
  pinned: boolean;
  state: 'idle' | 'running' | 'waiting' | 'failed';
  lastMessage?: {
    seq: number;
    role: 'user' | 'model';
    time: string;
    preview?: string;
    deleted?: boolean;
  };
  lastSeq: number;
  readSeq: number;
  unreadCount: number;
  createTime: string;
  activeTime: string;
  deleteTime?: string;
  purgeTime?: string;
}
export interface SearchAllConversationsResponse {
  hits: {
    seq: number;
    role: 'user' | 'model';
    messageId: string;
    at: string;
    replaced?: true;
    snippet: string;
    score: number;
    conversationId: string;
    title?: string;
  }[];
  titles: {
    conversationId: string;
    title: string;
  }[];
  searched: number;
  unreached: {
    conversationId: string;
    title?: string;
    turns?: number;
  }[];
  nextPageToken?: string;
}
export interface Message {
  id: string;
  turnId: string;
  seq: number;
  role: 'user' | 'model';
  parts: (
    | {
        type: 'text';
        text: string;
      }
    | {
        type: 'file';
        mediaType?: string;
        data?: string;
        url?: string;
        uploadId?: string;
        name?: string;
      }
    | {
        type: 'functionCall';
        callId?: string;
        name: string;
        args: {
          [k: string]: unknown;
        };
        providerExecuted?: true;
      }
    | {
        type: 'functionResponse';
        callId?: string;
        name: string;
        response: {
          [k: string]: unknown;
        };
      }
  )[];
  state: 'queued' | 'running' | 'awaiting_tool' | 'done' | 'failed' | 'cancelled';
  createTime: string;
  finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  loop?: 'text' | 'calls';
  inContext: boolean;
  outOfContext?: {
    reason:
      | 'queued'
      | 'running'
      | 'awaiting_tool'
      | 'failed'
      | 'cancelled'
      | 'filtered'
      | 'blocked'
      | 'replaced'
      | 'deleted'
      | 'answerDeleted'
      | 'late'
      | 'unreadable';
    replacedBy?: string;
  };
  replaces?: number;
  recalled?: {
    count: number;
    tokens: number;
    turns: string[];
  };
  leftOutFiles?: {
    turnId: string;
    part: number;
    mediaType?: string;
  }[];
  sources?: {
    id: string;
    url: string;
    title?: string;
    spans?: {
      start: number;
      end: number;
    }[];
  }[];
  searched?: {
    queries: string[];
    suggestions?: string;
  };
  openCalls?: {
    callId: string;
    name: string;
    args: {
      [k: string]: unknown;
    };
    wants: 'output' | 'approved';
  }[];
  error?: {
    status: string;
    reason: string;
    message: string;
    retryable: boolean;
  };
  deleted?: true;
  unreadable?: string;
  blocked?: string;
  feedback?: PutFeedbackResponse;
}
export interface PutFeedbackResponse {
  rating: 'up' | 'down';
  reason?: string;
  comment?: string;
  at: string;
}
export interface StreamChunkStart {
  type: 'start';
  messageId: string;
  messageMetadata: {
    turnId: string;
    conversationId: string;
    generation: number;
    replayed: boolean;
    shrunken?: Shrinkage;
  };
}
export interface Shrinkage {
  turnsLeftOut: number;
  from?: number;
  upTo?: number;
  outputsMasked: number;
}
export interface StreamChunkTextStart {
  type: 'text-start';
  id: string;
}
export interface StreamChunkTextDelta {
  type: 'text-delta';
  id: string;
  delta: string;
}
export interface StreamChunkTextEnd {
  type: 'text-end';
  id: string;
}
export interface StreamChunkStartStep {
  type: 'start-step';
}
export interface StreamChunkToolInputAvailable {
  type: 'tool-input-available';
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerExecuted?: true;
  dynamic: true;
}
export interface StreamChunkToolOutputAvailable {
  type: 'tool-output-available';
  toolCallId: string;
  output: unknown;
  providerExecuted?: true;
  dynamic: true;
}
export interface StreamChunkToolOutputError {
  type: 'tool-output-error';
  toolCallId: string;
  errorText: string;
  providerExecuted?: true;
  dynamic: true;
}
export interface StreamChunkSourceUrl {
  type: 'source-url';
  sourceId: string;
  url: string;
  title?: string;
}
export interface StreamChunkDataSearched {
  type: 'data-searched';
  id: 'searched';
  data: {
    queries: string[];
    suggestions?: string;
  };
}
export interface StreamChunkDataContext {
  type: 'data-context';
  id: 'ctx';
  transient: true;
  data: ContextObject;
}
export interface StreamChunkDataTitle {
  type: 'data-title';
  id: 'title';
  transient: true;
  data: {
    title: string;
  };
}
export interface StreamChunkDataNotice {
  type: 'data-notice';
  id: string;
  data:
    | {
        kind: 'restarted';
        dropParts: string[];
      }
    | {
        kind: 'approval';
        callId: string;
        toolName: string;
      }
    | {
        kind: 'loop';
        of: 'text' | 'calls';
      }
    | {
        kind: 'rounds';
        limit: number;
      }
    | {
        kind: 'files';
        leftOutFiles: {
          turnId: string;
          part: number;
          mediaType?: string;
        }[];
      };
}
export interface StreamChunkError {
  type: 'error';
  errorText: string;
}
export interface StreamChunkAbort {
  type: 'abort';
}
export interface StreamChunkFinish {
  type: 'finish';
  finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  messageMetadata: {
    usage?: Usage;
    routing?: {
      choice: 'fast' | 'strong';
      why: 'classifier' | 'rule' | 'default';
      model: string;
    };
    generation: number;
  };
}
export interface Usage {
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
  toolTokens?: number;
  searches?: number;
  costMicros?: number;
}
export interface ListUserEventsResponseConversation {
  type: 'conversation';
  conversation: ReadConversationResponse;
  erased?: {
    count: number;
    seqs: number[];
  };
}
export interface ListUserEventsResponseGone {
  type: 'gone';
  conversationId: string;
}
export interface ListUserEventsResponseReady {
  type: 'ready';
}
export interface ListUserEventsResponseReset {
  type: 'reset';
}
export interface ListUserEventsResponseReconnect {
  type: 'reconnect';
}

export type ConversationRow = Wire['ConversationRow'];
export type SearchAllResult = Wire['SearchAllResult'];
export type StoredMessage = Wire['StoredMessage'];
export type StreamChunk = Wire['StreamChunk'];
export type UserEvent = Wire['UserEvent'];
