import type { Content, Part } from '../../../shared/conversation/content.ts';
import type { Caller } from '../../../shared/ports.ts';
import type { StreamFrame } from '../../../shared/wire/stream.ts';
import type { FinishedTurn } from './live-turn.ts';

/** A message as the route hands it over: valid, and the caller proven. */
export interface SendRequest {
  caller: Caller;
  conversationId: string;
  message: { id: string; parts: Part[]; retention?: 'keep' | 'normal' | 'drop' };
  /** BCP 47; language of the messages about compaction. */
  locale?: string;
}

/** A turn on its way or already answered. */
export interface SendHandle {
  turnId: string;
  conversationId: string;
  generation: number;
  replayed: boolean;
  /** From the first frame on, then live; ends after the finish frame. */
  frames(): AsyncIterable<StreamFrame>;
  /** The finished turn; rejects with AppError when it failed. */
  result: Promise<FinishedTurn>;
}

export const userContent = (request: SendRequest): Content => ({
  role: 'user',
  parts: request.message.parts,
});
