/** A message as every recipe of the native API takes it. */
interface Outgoing {
  conversationId: string;
  messageId: string;
  text: string;
  files?: object[];
  onBusy?: 'reject' | 'queue' | 'interrupt';
}

/** An answer as a user of any recipe sees it at its end. */
export interface Shown {
  text: string;
  turnId: string;
  finishReason: string | undefined;
  isStopped: boolean;
  hasContext: boolean;
  calls: { id: string; name: string; input: unknown }[];
}

type Show = (text: string) => void;

/**
 * A recipe of the native API, whatever its language. A refusal rejects with an Error whose message begins with the
 * `reason`.
 */
export interface NativeClient {
  send(message: Outgoing, show?: Show): Promise<Shown>;
  edit(message: Outgoing & { replaced: string }, show?: Show): Promise<Shown>;
  regenerate(answer: { conversationId: string; messageId: string; id: string }): Promise<Shown>;
  giveResults(given: {
    conversationId: string;
    answer: Shown;
    results: { callId: string; output: unknown }[];
  }): Promise<Shown>;
  stop(turn: { conversationId: string; turnId: string }): Promise<void>;
  rename(conversation: { conversationId: string; title: string }): Promise<void>;
  rate(answer: { conversationId: string; messageId: string; rating: 'up' | 'down' }): Promise<void>;
  listConversations(): Promise<{ id: string; title?: string }[]>;
  /** The oldest first. */
  listMessages(
    conversationId: string,
  ): Promise<{ id: string; role: string; inContext: boolean; parts: { text?: string }[] }[]>;
  upload(file: { bytes: Uint8Array<ArrayBuffer>; mimeType: string }): Promise<object>;
}

/** Who asks, and where. */
export interface ClientSetup {
  baseUrl: string;
  token: string;
  /** What the app gets where it asks for a new token. */
  renewedToken?: string;
  appCheckToken?: string;
}

export type OpenClient = (setup: ClientSetup) => NativeClient;
