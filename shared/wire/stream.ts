import type { Shrinkage } from '../compaction/summariser/shrunken-view.ts';
import type { Routing } from '../routing/routing.ts';
import type { LoopKind } from '../loops/loop-reasons.ts';
import type { ContextObject } from './views/context-object.ts';
import type { FinishReason } from './finish-reason.ts';

/** Token figures of one answer as the wire shows them. */
export interface UsageView {
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
  /** Millionths of a US dollar; absent where no model reported what it took. */
  costMicros?: number | undefined;
}

/**
 * The chunks of the AI SDK's UI message stream v1 that Recap sends. Any other type crashes `ai` 5, 6
 * and 7, so what is ours travels as `data-*`.
 */
export type StreamChunk =
  | {
      type: 'start';
      messageId: string;
      messageMetadata: {
        turnId: string;
        conversationId: string;
        generation: number;
        replayed: boolean;
        /** The context is over the hard threshold: the model sees a shrunken view of it. */
        shrunken?: Shrinkage;
      };
    }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  /** Another call of the model begins: what the tools gave stands before it. */
  | { type: 'start-step' }
  /** `providerExecuted`: this server runs it; else the app does. Tools are declared while the app runs: `dynamic`. */
  | {
      type: 'tool-input-available';
      toolCallId: string;
      toolName: string;
      input: unknown;
      providerExecuted?: true;
      dynamic: true;
    }
  | {
      type: 'tool-output-available';
      toolCallId: string;
      output: unknown;
      providerExecuted?: true;
      dynamic: true;
    }
  | {
      type: 'tool-output-error';
      toolCallId: string;
      errorText: string;
      providerExecuted?: true;
      dynamic: true;
    }
  | { type: 'data-context'; id: 'ctx'; transient: true; data: ContextObject }
  /** The title that was made for the conversation, once it is stored. */
  | { type: 'data-title'; id: 'title'; transient: true; data: { title: string } }
  /**
   * The answer begins anew: the parts named were said by an attempt that was given up, or go beyond what is
   * stored of one (`-stored`). It stays in the message of the AI SDK, each under an id of its own: what
   * stands before the last one no longer holds.
   */
  | {
      type: 'data-notice';
      id: `restarted-${number}` | `restarted-${number}-stored`;
      data: { kind: 'restarted'; dropParts: string[] };
    }
  /** A tool of this server waits until the user allows the call. */
  | {
      type: 'data-notice';
      id: `approval-${string}`;
      data: { kind: 'approval'; callId: string; toolName: string };
    }
  /** The answer was ended because its text, or its calls of tools, said the same again and again. */
  | { type: 'data-notice'; id: 'loop'; data: { kind: 'loop'; of: LoopKind } }
  /** The answer rests on what the tools gave in so many rounds: more of them were asked for. */
  | { type: 'data-notice'; id: 'rounds'; data: { kind: 'rounds'; limit: number } }
  | { type: 'error'; errorText: string }
  | { type: 'abort' }
  | {
      type: 'finish';
      finishReason: FinishReason;
      messageMetadata: { usage?: UsageView; routing?: Routing; generation: number };
    };

/**
 * One event of the stream. Ids rise by one within an attempt at a turn; a collapsed replay skips those of
 * the deltas that it joined, a new attempt begins above all earlier ones (see frame-ids.ts).
 */
export interface StreamFrame {
  id: number;
  chunk: StreamChunk;
}
