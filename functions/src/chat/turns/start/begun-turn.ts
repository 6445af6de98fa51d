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
  /** Until when the producer holds the turn, as it began; later renewals do not show here. */
  leaseUntil: Date;
  /** Update time of the turn document when it began. */
  turnUpdateTime: string;
}

/** How far the answer of a turn has come between two calls of the model. */
export interface TurnProgress {
  /** Model and tool contents so far; calls among them may be open. */
  contents: readonly Content[];
  /** Absent before the first tool call. */
  rounds?: Rounds | undefined;
  /** The bill of all calls of the model, those of earlier attempts included. */
  usage?: TurnUsage | undefined;
  /** What the answer rests on so far. */
  grounding?: Grounding | undefined;
  /** What the last call that needed it mended of the history. */
  repairs?: Repairs | undefined;
  /** Files that the model could not read any more: the turn is answered without them. */
  leftOutFiles?: Turn['leftOutFiles'];
}

/** What a producer begins with. */
export interface ProgressAtStart extends TurnProgress {
  /** The part of `usage` that was charged already: when the turn began to wait for the app, or when an attempt failed. */
  settled?: TurnUsage | undefined;
  /** The message was counted when the turn began to wait for the app. */
  isCounted?: true | undefined;
  /** Id of the next frame of this attempt; not the first one where the turn goes on after a pause. */
  nextFrameId: number;
  /** The turn goes on after a pause: the stream of this attempt has shown the rounds already. */
  isResumed: boolean;
}

/** The stored rounds from which the producer goes on, and what they cost. */
export type KeptProgress = KeptRounds &
  Pick<ProgressAtStart, 'usage' | 'settled' | 'isCounted' | 'grounding' | 'leftOutFiles'>;

/** What the producer made of the turn: as much of an answer as there is, and the error that ended it, if any. */
export interface TurnAnswer extends TurnProgress {
  finishReason?: string | undefined;
  error?: AppError | undefined;
  /** What the last call of the model reported, if nothing came after its answer. */
  report?: ModelUsage | undefined;
  /** A call of the model may be billed, and reported no usage. */
  isUnreported: boolean;
  /** How many contents the last call was sent. */
  sentContents: number;
  /** What of the context the newest prompt had. */
  sent: SentView;
  /** The turn pauses: its open calls wait for the app or its user. */
  isWaiting: boolean;
}

/** The ways in which a turn gets a producer. */
type Beginning =
  | Extract<StartDecision, { kind: 'start' | 'takeOver' | 'answerAgain' }>
  | Extract<QueuedDecision, { kind: 'beginQueued' }>
  /** The app has answered all that a turn waited for. */
  | { kind: 'resume'; seq: number; attempt: number; kept: KeptProgress };

/** A turn that is to get a producer: the request for it, what was read, and what was decided. */
export interface TurnToBegin {
  request: SendRequest;
  state: StartState;
  decision: Beginning;
}

/** The fields of the turn document that stand from the beginning. `foldedInContext`: see `PlannedContext`. */
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
  /** As the batch left it, with the model of the turn. */
  conversation: Conversation;
  /** The model of the conversation, which answers the next turn: its limits decide about a compaction. */
  nextModel: string;
  job: CompactionJob | undefined;
  history: History | undefined;
  /** The ended turns behind the history and before this one, without those that it replaces. */
  turns: readonly Turn[];
  /** The memory as the prefix of the prompt shows it. */
  memory: MemoryTexts;
}

/** The first call of the model. */
interface TurnCall {
  /** Answers all calls of the turn; `auto` until it is chosen, before the first one. */
  model: string;
  prompt: Prompt;
  /** The prompt for another model: with the signatures that it can read. */
  promptFor: (model: string) => Prompt;
  /** The message as all prompts of the turn show it: with what the memory and folded turns have for it. */
  user: Content;
  /** What recall brought back of the folded turns; it stands in `user`. */
  recalled: Recalled;
  /** What of the context the prompt had. */
  sent: SentView;
}

/** Uncalibrated estimates. */
interface TurnTokens {
  /** Of the message. */
  user: number;
  /** Of what this prompt alone shows beside it: of the memory and of folded turns. */
  transient: number;
  /** Of instruction and tools. */
  overhead: number;
}

/** A turn whose producer this instance is, with all that its answer needs. */
export interface BegunTurn {
  attempt: Attempt;
  /** The client's id of its message. */
  messageId: string;
  /** Language of the messages about compaction. */
  locale: string | undefined;
  turn: TurnAtStart;
  context: ContextAtStart;
  call: TurnCall;
  tokens: TurnTokens;
  caller: Caller;
  /** What the turn holds of its user's quota. */
  reservation: Reservation;
  /** What the choice of its model cost. */
  routingSpent?: QuotaSpending['routing'];
  /** What it goes on from. */
  progress: ProgressAtStart;
  /** The compaction that an edit asked for when it replaced turns; published at the end of the turn. */
  replacementRequest: CompactionRequests['auto'];
}
