import type { loadMessages } from '#docs/clients/recipes/use-chat.ts';
import type { Place } from './columns.ts';

/** A message that a chat shows. */
export interface ShownMessage {
  id: string;
  role: string;
  parts: readonly ShownPart[];
  metadata?: unknown;
}

interface ShownPart {
  type: string;
  text?: string;
  state?: string;
  toolCallId?: string;
  toolName?: string;
  approval?: { id: string };
}

/** A chat of the AI SDK, as the class `Chat`, the hook `useChat` and assistant-ui have it. */
export interface Chat {
  readonly messages: readonly ShownMessage[];
  readonly status: string;
  readonly error: Error | undefined;
  sendMessage: (message: OutgoingMessage, options?: { body: object }) => unknown;
  regenerate: () => unknown;
  resumeStream: () => unknown;
  stop: () => unknown;
  addToolOutput: (given: { tool: string; toolCallId: string; output: unknown }) => unknown;
  /** Absent where the library has no approvals. */
  addToolApprovalResponse?: (given: { id: string; approved: boolean }) => unknown;
}

export interface OutgoingMessage {
  text: string;
  files?: { type: 'file'; mediaType: string; url: string }[];
  /** The message that it takes the place of. */
  messageId?: string;
}

export interface ChatSetup {
  place: Place;
  id: string;
  messages?: readonly StoredMessage[];
}

/** A message that a page begins with. */
type StoredMessage = Awaited<ReturnType<typeof loadMessages>>[number];

/**
 * For `new DefaultChatTransport(…)`: as the SDK's own documentation has it, nothing shortened; only the version of `ai`
 * is told, as the recipe does, so that questions for approval come as its parts.
 */
export const plainTransport = ({ url, token }: Place, version: 5 | 6 | 7 = 7) => ({
  api: `${url}/v1/ai-sdk/chat`,
  headers: { authorization: `Bearer ${token}`, 'x-ai-sdk-version': String(version) },
});
