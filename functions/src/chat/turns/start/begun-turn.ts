import type { Repairs } from '#shared/models/repairs.ts';
import type { MemoryTexts } from '#shared/conversation/context/memory-texts.ts';
import type { QueuedDecision, StartDecision } from '#shared/conversation/start-decision.ts';
import type { Recalled } from '#functions/chat/features/recall-for-turn.ts';
import type { SentView } from '#shared/conversation/context/sent-view.ts';
import type { Content } from '#shared/models/content.ts';
import type {
  Conversation,
  CompactionRequests,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { Turn, Rounds, TurnUsage } from '#shared/conversation/documents/turn.ts';
import type {
  Caller,
  Prompt,
  ModelUsage,
  QuotaSpending,
  Reservation,
} from '#shared/ports/ports.ts';
import type { AppError } from '#shared/lib/errors.ts';
import type { Grounding } from '#shared/models/grounding.ts';
import type { KeptRounds } from '#shared/conversation/writes/turn-writes.ts';
import type { SendRequest } from '../send/send-request.ts';
import type { StartState } from './read-start.ts';

/** An attempt at a turn, as it began. */
export interface Attempt {
  conversationId: string;
  seq: number;
  attempt: number;
  producer: string;
  /** Until when the turn is this producer's, as it began. */
  leaseUntil: Date;
  /** Update time of the turn document when it began. */
  turnUpdateTime: string;
}

/** How far a turn has come that is answered in more than one call of the model. */
export interface TurnProgress {
  /** Model and tool contents so far; calls that nobody has answered are open among them. */
  contents: readonly Content[];
  /** Absent while there was no call. */
  rounds?: Rounds | undefined;
  /** The bill of all calls of the model, those of earlier attempts included. */
  usage?: TurnUsage | undefined;
  /** What the answer rests on so far. */
  grounding?: Grounding | undefined;
  /** What was mended of the history in the last call that needed it. */
  repairs?: Repairs | undefined;
  /** What the model could not read any more: the turn is answered without it. */
  leftOutFiles?: Turn['leftOutFiles'];
}

/** What a producer begins with. */
export interface ProgressAtStart extends TurnProgress {
  /** Part of `usage` that is charged already: the turn has waited for the app. */
  settled?: TurnUsage | undefined;
  /** Id of the next frame of this attempt, which has some already where the turn goes on after a pause. */
  nextFrameId: number;
  /** The stream of this attempt has shown the rounds already. */
  isResumed: boolean;
}

/** The whole rounds that attempts before this one have left, and what they cost. */
export type KeptProgress = KeptRounds &
  Pick<ProgressAtStart, 'usage' | 'settled' | 'grounding' | 'leftOutFiles'>;

/** What came of the turn here: a part of it is always there, and an error where there was one. */
export interface TurnAnswer extends TurnProgress {
  finishReason?: string | undefined;
  error?: AppError | undefined;
  /** The last call of the model reported this, and nothing came after its answer. */
  report?: ModelUsage | undefined;
  /** A call of the model here may be billed, and told no figures. */
  isUnreported: boolean;
  /** Contents that this call was sent. */
  sentContents: number;
  /** How the newest prompt stands to the context. */
  sent: SentView;
  /** Open calls are the app's, or wait for the user. */
  isWaiting: boolean;
}

/** The ways in which a turn gets a producer. */
type Beginning =
  | Extract<StartDecision, { kind: 'start' | 'takeOver' }>
  | Extract<QueuedDecision, { kind: 'beginQueued' }>
  /** The app has answered all that a turn waited for. */
  | { kind: 'resume'; seq: number; attempt: number; kept: KeptProgress };

/** A turn that is to begin: what asks for it, what was read, and what was decided. */
export interface Begin {
  request: SendRequest;
  state: StartState;
  decision: Beginning;
}

/** What the turn's document says of it from the start. `foldedInContext`: see `ContextBefore`. */
type TurnAtStart = Pick<
  Turn,
  | 'user'
  | 'retention'
  | 'options'
  | 'surroundings'
  | 'describedClient'
  | 'tools'
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
  replacementRequest: CompactionRequests['auto'];
}
