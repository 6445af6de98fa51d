import type { Recalled } from '#functions/chat/features/recall-for-turn.ts';
import type { SentView } from '#shared/compaction/shrunken-view.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { MemoryTexts } from '#shared/memory/render-memory.ts';
import type { Caller, Prompt } from '#shared/ports/ports.ts';
import type { QuotaSpending, Reservation } from '#shared/ports/quota-ports.ts';
import type { ProgressAtStart } from '../store/turn-progress.ts';
import type { Attempt } from '../store/turn-store.ts';
import type { PlannedReplacement } from './plan-replacement.ts';

/** What the turn's document says of it from the start. `foldedInContext`: see `ContextBefore`. */
type TurnAtStart = Pick<
  Turn,
  | 'user'
  | 'retention'
  | 'options'
  | 'surroundings'
  | 'describedClient'
  | 'routing'
  | 'createTime'
  | 'replaces'
  | 'foldedInContext'
>;

/** The context that a turn answers from. */
export interface ContextAtStart {
  /** With the model of the turn. */
  conversation: Conversation;
  /** What the conversation has changed to meanwhile: answers the next turn, whose limits are those of this context. */
  nextModel: string;
  job: CompactionJob | undefined;
  history: History | undefined;
  /** Terminal turns of the tail before this one, without those that it replaces. */
  turns: readonly Turn[];
  /** The memory as the prefix of the prompt shows it. */
  memory: MemoryTexts;
}

/** What the model is asked with. */
interface TurnCall {
  /** Answers all calls of the turn; where the conversation is `auto`, it is chosen before the first one. */
  model: string;
  /** Of the first call. */
  prompt: Prompt;
  /** The same for another model: with the signatures that this one can read. */
  promptFor: (model: string) => Prompt;
  /** The message as its prompts say it: with what they say of the memory and of folded turns beside it. */
  user: Content;
  /** What was brought back of the folded turns; it stands in `user`. */
  recalled: Recalled;
  /** How that prompt stands to the context. */
  sent: SentView;
}

/** Uncalibrated estimates. */
interface TurnTokens {
  /** Of the message. */
  user: number;
  /** Of what was said beside it of the memory and of folded turns. */
  said: number;
  /** Of instruction and tools. */
  overhead: number;
}

/** A turn that this instance now owns, with all that its answer needs. */
export interface BegunTurn {
  attempt: Attempt;
  turn: TurnAtStart;
  context: ContextAtStart;
  call: TurnCall;
  tokens: TurnTokens;
  caller: Caller;
  /** What the answer holds of its user's quota. */
  reservation: Reservation;
  /** What the choice of its model took. */
  routingSpent?: QuotaSpending['routing'];
  /** What attempts before this one have stored whole. */
  progress: ProgressAtStart;
  /** The compaction that a replacement asks for; published with the end of the turn. */
  replacementRequest: PlannedReplacement['compactionRequest'];
}
